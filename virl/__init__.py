"""Tool-using agents that live in real cities, and in one that needs no key."""

__version__ = "0.1.0"

"""The version of virl."""

__version__ = "0.1.0"

"""VELMA: a walk told as text, and a language model that says the next action (arXiv 2307.06082)."""

"""The names of what a run keeps in its folder beside the journal."""

CONSULTED = "consulted"
"""Folder of the runs of agents that were consulted, each in a folder of its own."""

"""Agents: a character file and a routine each."""

"""Servers that let other programs, and virl's own clients, live in a city over HTTP."""

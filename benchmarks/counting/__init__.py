"""Score counts of street furniture along routes and in regions, with each memory rule switched off.

Described in `docs/explanation/counting-results.md`.
"""

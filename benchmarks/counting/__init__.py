"""How well things along routes and in regions are counted.

Described in `docs/explanation/counting-results.md`.
"""

"""The page of `virl watch`: runs as they go on, and finished ones replayed.

Described in `docs/how-to/watch.md`.
"""

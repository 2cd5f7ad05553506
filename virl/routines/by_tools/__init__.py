"""Characters that live by tools: a language model decides what to do.

Described in `docs/reference/characters.md`.
"""

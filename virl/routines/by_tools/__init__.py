"""Characters that live by tools: a language model, a script or rules decide what to do.

Described in `docs/reference/characters.md`.
"""

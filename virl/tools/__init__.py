"""What a language model may do in a city: tools over the platform.

Described in `docs/reference/characters.md`.
"""

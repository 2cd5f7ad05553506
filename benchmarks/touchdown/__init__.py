"""Follow written instructions through the streets of Manhattan.

Described in `docs/how-to/instruction-benchmarks.md`.
"""

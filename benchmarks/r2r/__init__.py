"""Follow written instructions through buildings, from viewpoint to viewpoint.

Described in `docs/how-to/instruction-benchmarks.md`.
"""

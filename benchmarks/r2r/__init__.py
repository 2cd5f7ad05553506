"""Instruction following in the buildings of R2R. Described in `docs/r2r.md`."""

"""Instruction following in the buildings of R2R. Described in `docs/how-to/instruction-benchmarks.md`."""

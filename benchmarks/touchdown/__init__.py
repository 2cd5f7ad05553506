"""Instruction following on the streets of Touchdown and Map2seq.

Described in `docs/how-to/instruction-benchmarks.md`.
"""

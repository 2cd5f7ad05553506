"""Instruction following on the streets of Touchdown and Map2seq. Described in `docs/touchdown.md`."""

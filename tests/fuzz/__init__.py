"""Inputs of every shape for all that virl reads from outside: `make fuzz`.

Each kind of input has seeds that are good. A seed is changed at random and read; the reader may refuse it
with a `VirlError` of one line, and nothing else. Inputs that a reader once failed on are in `kept/KIND/`.
"""

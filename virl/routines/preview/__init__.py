"""Telling what a way is like before it is walked. Described in `docs/explanation/preview.md`."""

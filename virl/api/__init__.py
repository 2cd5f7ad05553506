"""The Python API: what `import virl` offers. `docs/how-to/python.md` says what is stable."""

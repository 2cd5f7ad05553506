"""A guard for changes that must not change behaviour: it records what commands and clients do, and compares.

    PYTHONPATH=tests .venv/bin/python -m guard record FOLDER [--only agents|benchmarks|http] [--name PART]
    PYTHONPATH=tests .venv/bin/python -m guard compare BEFORE AFTER

Record once before a change and once after it; the folders lie outside the checkout. Names inside virl that
the recording needs stand in `inner.py` alone.
"""

"""`python -m benchmarks.place_recognition`: the same as `virl bench place-recognition`."""

from virl.bench.cli import run_module

run_module("place-recognition")

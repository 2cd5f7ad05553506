"""`python -m benchmarks.place_recognition`: the same as `virl bench place-recognition`."""

from virl.cli.bench import run_module

run_module("place-recognition")

"""`python -m benchmarks.place_vqa`: the same as `virl bench place-vqa`."""

from virl.bench.cli import run_module

run_module("place-vqa")

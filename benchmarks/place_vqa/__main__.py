"""`python -m benchmarks.place_vqa`: the same as `virl bench place-vqa`."""

from virl.cli.bench import run_module

run_module("place-vqa")

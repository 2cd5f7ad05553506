"""`python -m benchmarks.sight`: the same as `virl bench sight`."""

from virl.cli.bench import run_module

run_module("sight")

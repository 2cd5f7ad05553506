"""`python -m benchmarks.r2r`: the same as `virl bench r2r`."""

from virl.cli.bench import run_module

run_module("r2r")

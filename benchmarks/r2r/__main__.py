"""`python -m benchmarks.r2r`: the same as `virl bench r2r`."""

from virl.bench.cli import run_module

run_module("r2r")

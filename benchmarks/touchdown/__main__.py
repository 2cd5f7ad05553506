"""`python -m benchmarks.touchdown`: the same as `virl bench touchdown`."""

from virl.bench.cli import run_module

run_module("touchdown")

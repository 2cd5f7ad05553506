"""`python -m benchmarks.touchdown`: the same as `virl bench touchdown`."""

from virl.cli.bench import run_module

run_module("touchdown")

"""`python -m benchmarks.counting`: the same as `virl bench counting`."""

from virl.cli.bench import run_module

run_module("counting")

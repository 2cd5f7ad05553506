"""`python -m benchmarks.counting`: the same as `virl bench counting`."""

from virl.bench.cli import run_module

run_module("counting")

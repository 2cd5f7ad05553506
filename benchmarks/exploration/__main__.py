"""`python -m benchmarks.exploration`: the same as `virl bench exploration`."""

from virl.bench.cli import run_module

run_module("exploration")

"""`python -m benchmarks.exploration`: the same as `virl bench exploration`."""

from virl.cli.bench import run_module

run_module("exploration")

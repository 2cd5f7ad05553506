"""`python -m benchmarks.agents`: the same as `virl bench agents`."""

from virl.bench.cli import run_module

run_module("agents")

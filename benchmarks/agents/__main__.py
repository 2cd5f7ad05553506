"""`python -m benchmarks.agents`: the same as `virl bench agents`."""

from virl.cli.bench import run_module

run_module("agents")

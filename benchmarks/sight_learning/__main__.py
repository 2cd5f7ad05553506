"""`python -m benchmarks.sight_learning`: the same as `virl bench sight-learning`."""

from virl.cli.bench import run_module

run_module("sight-learning")

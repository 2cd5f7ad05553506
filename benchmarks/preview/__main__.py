"""`python -m benchmarks.preview`: the same as `virl bench preview`."""

from virl.cli.bench import run_module

run_module("preview")

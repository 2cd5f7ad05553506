"""`python -m benchmarks.vln`: the same as `virl bench vln`."""

from virl.cli.bench import run_module

run_module("vln")

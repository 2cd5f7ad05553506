"""`python -m benchmarks.vln`: the same as `virl bench vln`."""

from virl.bench.cli import run_module

run_module("vln")

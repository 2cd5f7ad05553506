"""`python -m benchmarks.place_localization`: the same as `virl bench place-localization`."""

from virl.cli.bench import run_module

run_module("place-localization")

"""Start Diego: `python -m agents.diego`. The routine is `virl.routines.day`."""

from virl.cli.main import run_module

if __name__ == "__main__":
    run_module("diego")

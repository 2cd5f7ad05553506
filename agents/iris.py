"""Start Iris: `python -m agents.iris`. The routine is `virl.routines.search`."""

from virl.cli.main import run_module

if __name__ == "__main__":
    run_module("iris")

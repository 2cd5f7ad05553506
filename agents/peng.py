"""Start Peng: `python -m agents.peng`. The routine is `virl.routines.errands`."""

from virl.cli.main import run_module

if __name__ == "__main__":
    run_module("peng")

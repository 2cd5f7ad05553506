"""Start Hiro: `python -m agents.hiro`. The routine is `virl.routines.explore`."""

from virl.cli.main import run_module

if __name__ == "__main__":
    run_module("hiro")

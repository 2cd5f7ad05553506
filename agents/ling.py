"""Start Ling: `python -m agents.ling`. The routine is `virl.routines.directions.following`."""

from virl.cli.main import run_module

if __name__ == "__main__":
    run_module("ling")

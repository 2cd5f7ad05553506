"""Start Local: `python -m agents.local`. The routine is `virl.routines.directions`."""

from virl.cli.main import run_module

if __name__ == "__main__":
    run_module("local")

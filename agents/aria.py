"""Start Aria: `python -m agents.aria`. The routine is `virl.routines.recommend`."""

from virl.cli.main import run_module

if __name__ == "__main__":
    run_module("aria")

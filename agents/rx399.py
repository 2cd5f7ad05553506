"""Start RX-399: `python -m agents.rx399`. The routine is `virl.routines.counting`."""

from virl.cli.main import run_module

if __name__ == "__main__":
    run_module("rx399")

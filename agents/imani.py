"""Start Imani: `python -m agents.imani`. The routine is `virl.routines.counting.survey`."""

from virl.cli.main import run_module

if __name__ == "__main__":
    run_module("imani")

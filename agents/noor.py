"""Start Noor: `python -m agents.noor`. The routine is `virl.routines.preview`."""

from virl.cli.main import run_module

if __name__ == "__main__":
    run_module("noor")

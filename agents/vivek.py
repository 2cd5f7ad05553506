"""Start Vivek: `python -m agents.vivek`. The routine is `virl.routines.homes`."""

from virl.cli.main import run_module

if __name__ == "__main__":
    run_module("vivek")

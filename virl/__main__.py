"""`python -m virl`: the same as `virl`."""

from virl.cli.main import main

main()

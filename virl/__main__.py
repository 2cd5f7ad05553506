"""`python -m virl`: the same as `virl`."""

from virl.cli import main

main()

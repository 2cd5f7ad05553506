"""Answers which agent does what somebody wants: what `virl` prints without a command."""

from virl.cli.listing import print_table

WISHES = (
    ("find a place to eat, or of another kind, by walking", "virl run hiro"),
    ("find a known place, or one that fits a wish, by sight", "virl run iris"),
    ("choose a place by its reviews", "virl run aria"),
    ("send other agents to try places, and check what they report", "virl run june"),
    ("plan a day", "virl run diego"),
    ("run errands in the shortest order", "virl run peng"),
    ("find a home to rent", "virl run vivek"),
    ("count things along a route", "virl run rx399"),
    ("count things in a whole region", "virl run imani"),
    ("check a way for obstacles", "virl run otto"),
    ("read a description of a way before you walk it", "virl run noor"),
    ("follow directions that a local gives", "virl run ling"),
    ("plan a walk and get directions in words", "virl run local"),
    ("find a corner worth a photograph", "virl run mira"),
    ("build your own agent", "virl new NAME"),
)
"""The wishes that somebody may have, each with the command for it; `docs/index.md` has the same table."""


def print_wishes() -> None:
    """Print the table, and where the other commands are."""
    print_table(
        ("you want to", "command"),
        WISHES,
        "Each runs without a key. `virl agents` says who they are, `virl --help` lists all commands.",
    )

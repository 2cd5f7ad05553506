"""The addresses of what a session leaves: its journal, its map and its report."""

import re

JOURNAL, MAP, REPORT = "journal", "map", "report"
CITIES = "virl://cities"
TEMPLATE = "virl://sessions/{session}/"

_ADDRESS = re.compile(
    rf"virl://sessions/(?P<session>[A-Za-z0-9._-]{{1,130}})/(?P<what>{JOURNAL}|{MAP}|{REPORT})"
)


def address(session: str, what: str) -> str:
    """The address of one of them."""
    return f"virl://sessions/{session}/{what}"


def parse_address(uri: str) -> tuple[str, str] | None:
    """The session's id and which of them; nothing if it is no such address."""
    found = _ADDRESS.fullmatch(uri)
    return (found["session"], found["what"]) if found else None

"""What can go wrong: every error that virl raises for its user derives from `VirlError`.

The text of a `VirlError` is one line that says what is wrong and what to do. The command line prints it
and exits with code 2.
"""


class VirlError(Exception):
    """Something the user can mend: the message is one line that says how."""


class BadInput(VirlError):
    """A file, field or argument does not hold what it should."""


class UnknownName(BadInput):
    """A city, agent, model or prompt that does not exist.

    Args:
        kind: what was asked for, such as ``"city"``.
        name: the name as given.
        known: the names that would have worked.
    """

    def __init__(self, kind: str, name: str, known: list[str]) -> None:
        super().__init__(f"unknown {kind} {name!r}: there is {', '.join(sorted(known)) or 'none'}")


class NoStreetView(VirlError):
    """No panorama has this id, or none lies near this position."""


class NoImagery(VirlError):
    """The provider knows the panorama but has no picture of it."""


class NoRoute(VirlError):
    """No way leads from one stop to the next."""


class NotFound(VirlError):
    """No place, address or listing matches."""


class ModelUnavailable(VirlError):
    """A model cannot be used: the message names the extra, the file or the key that is missing."""


class MindFailed(VirlError):
    """A mind gave no valid reply within its retries."""


class JournalBroken(VirlError):
    """A journal cannot be read or continued."""

"""What can go wrong: every error that virl raises for its user derives from `VirlError`.

The text of a `VirlError` is one line that says what is wrong and what to do. The command line prints it
and exits with code 2.
"""

from collections.abc import Collection


def choices(known: Collection[str]) -> str:
    """The end of an error about an unknown name: the names that work, sorted."""
    return f"choose one of: {', '.join(sorted(known))}" if known else "there are none"


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
        super().__init__(f"unknown {kind} {name!r}: {choices(known)}")


class CannotWrite(VirlError):
    """The disk is full, or the place may not be written to; what was written before is safe."""


class CodeFault(VirlError):
    """A bug in code that virl runs; the exception that it raised is the cause. The exit code is 1."""


class NoStreetView(VirlError):
    """No panorama has this id, or none lies near this position."""


class NoImagery(VirlError):
    """The provider knows the panorama but has no picture of it."""


class NoRoute(VirlError):
    """No way leads from one stop to the next."""


class NotFound(VirlError):
    """No place, address or listing matches."""


class ProviderError(VirlError):
    """A provider on the network refused a request, answered nonsense, or cannot be reached.

    Args:
        service: whose service it was, such as ``"Places API (New)"``.
        reason: what went wrong.
        remedy: what to do about it.
        status: the HTTP status of the reply, `None` if none came.
        code: the provider's own name for the fault, such as ``"NOT_FOUND"``; empty if it gave none.
    """

    def __init__(
        self, service: str, reason: str, remedy: str, *, status: int | None = None, code: str = ""
    ) -> None:
        super().__init__(f"{service}: {reason}: {remedy}")
        self.service = service
        self.reason = reason
        self.remedy = remedy
        self.status = status
        self.code = code


class BudgetExceeded(VirlError):
    """The next request would cost more than is left; it was not sent.

    Args:
        limit_usd: dollars that may be spent.
        spent_usd: dollars spent so far.
        price_usd: dollars that the request would have cost.
        request: what would have been asked.
    """

    def __init__(self, limit_usd: float, spent_usd: float, price_usd: float, request: str) -> None:
        super().__init__(
            f"${spent_usd:.4f} of the budget of ${limit_usd:.4f} is spent, and {request} costs "
            f"${price_usd:.4f} more: continue with --resume and a higher --budget-usd"
        )
        self.limit_usd = limit_usd
        self.spent_usd = spent_usd
        self.price_usd = price_usd


class ModelUnavailable(VirlError):
    """A model or a plug-in cannot be used: the message names the extra, file, key or package at fault."""


class MindFailed(VirlError):
    """A mind gave no valid reply within its retries."""


class JournalBroken(VirlError):
    """A journal cannot be read or continued."""

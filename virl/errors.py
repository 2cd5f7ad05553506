"""What can go wrong: every error that virl raises for its user derives from `VirlError`.

The text of a `VirlError` is one line that says what is wrong and what to do. The command line prints it
and exits with code 2.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Literal

_WAY_ON = ContextVar("way on", default="--resume")
FEW = 14  # names that an error lists where a command lists them too; chosen
LONGEST_NAME = 60  # characters of a name for which a near one is looked for; chosen
LISTINGS: Mapping[str, str] = MappingProxyType(
    {
        "agent": "virl agents",
        "area": "virl cities --areas",
        "benchmark": "virl bench list",
        "city": "virl cities",
        "describer": "virl models",
        "detector": "virl models",
        "matcher": "virl models",
        "model": "virl models",
        "reader": "virl models",
        "recognizer": "virl models",
    }
)
"""The command that lists the names of a kind."""


def choices(known: Collection[str]) -> str:
    """Return the end of an error about an unknown name: the names that work, sorted."""
    return f"choose one of: {', '.join(sorted(known))}" if known else "there are none"


def nearest_name(name: str, known: Collection[str]) -> str | None:
    """Return the known name that a misspelt one resembles, whatever its capitals; `None` if there is none."""
    by_small_letters = {one.casefold(): one for one in sorted(known)}
    small = name[:LONGEST_NAME].casefold()
    close = get_close_matches(small, by_small_letters, n=1)
    begun = [one for one in by_small_letters if len(small) > 2 and one.startswith(small)]
    return by_small_letters[(close or begun)[0]] if close or len(begun) == 1 else None


def did_you_mean(name: str, known: Collection[str]) -> str:
    """Return the end of an error about a misspelt name; empty if no known one resembles it."""
    near = nearest_name(name, known)
    return f"; did you mean {near!r}?" if near else ""


class Interrupted(KeyboardInterrupt):
    """A run that Ctrl-C has ended and that can go on; the text says how in Python."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"the run stopped: go on with the same call and out={str(folder)!r}, resume=True")
        self.folder = folder
        """Folder of what was done."""


class VirlError(Exception):
    """Something the user can mend: the message is one line that says how."""

    @property
    def lines(self) -> Sequence[str]:
        """The lines that the command line prints: the message, or a line for each of several faults."""
        return (str(self),)


class BadInput(VirlError):
    """A file, field or argument does not hold what it should."""


class BadFile(BadInput):
    """A file with one fault or more.

    Args:
        source: the file, or what else the fields come from.
        faults: each with its line, `None` where it has none, in the order of the lines.
    """

    def __init__(self, source: str, faults: Sequence[tuple[int | None, str]]) -> None:
        super().__init__(source, faults)
        self.source = source
        self.faults = tuple(faults)

    def __str__(self) -> str:
        """Return all faults in one line."""
        if len(self.faults) == 1:
            return self._messages[0]
        bare = "; ".join(f"{_place(line)}{said}" for line, said in self.faults)
        return f"{self.source}: {len(self.faults)} faults: {bare}"

    @property
    def lines(self) -> Sequence[str]:
        """The lines that the command line prints: the number of faults if several, and each fault."""
        many = len(self.faults) > 1
        return (*([f"{self.source}: {len(self.faults)} faults"] if many else []), *self._messages)

    @property
    def _messages(self) -> list[str]:
        return [
            f"{self.source}: {said}" if line is None else f"{self.source}, line {line}: {said}"
            for line, said in self.faults
        ]


class BadInputs(BadInput):
    """Several faults at once.

    Args:
        faults: each of them.
    """

    def __init__(self, faults: Sequence[VirlError]) -> None:
        super().__init__(tuple(faults))
        self.faults = tuple(faults)

    def __str__(self) -> str:
        """Return all faults in one line."""
        return "; ".join(map(str, self.faults))

    @property
    def lines(self) -> Sequence[str]:
        """The lines that the command line prints: the number of faults if several, and each fault."""
        lines = [line for fault in self.faults for line in fault.lines[len(fault.lines) > 1 :]]
        return (*([f"{len(lines)} faults"] if len(lines) > 1 else []), *lines)


def told_of(source: str, fault: VirlError) -> Sequence[str]:
    """Return the lines of a fault of a source, each with the source's name in front."""
    lines = fault.lines[1:] if len(fault.lines) > 1 else fault.lines
    return [line if line.startswith(source) else f"{source}: {line}" for line in lines]


def raise_all(faults: Sequence[VirlError]) -> None:
    """Raise what is wrong, as one error; nothing where there is nothing.

    Raises:
        VirlError: the only fault, or a `BadInputs` of all.
    """
    if len(faults) == 1:
        raise faults[0]
    if faults:
        raise BadInputs(faults)


def _place(line: int | None) -> str:
    return "" if line is None else f"line {line}: "


class UnknownName(BadInput):
    """A city, agent, model or prompt that does not exist.

    Args:
        kind: what was asked for, such as ``"city"``.
        name: the name as given.
        known: the names that would have worked.
    """

    def __init__(self, kind: str, name: str, known: Collection[str]) -> None:
        super().__init__(kind, name, known)
        self.kind = kind
        self.name = name
        self.known = known

    def __str__(self) -> str:
        """Return the names that it resembles, and the others or the command that lists them."""
        near = nearest_name(self.name, self.known)
        command = LISTINGS.get(self.kind)
        if command and len(self.known) > FEW:
            known = f"`{command}` lists all {len(self.known)}"
        else:
            known = "" if near and len(self.known) > FEW else choices(self.known)
        hint = " ".join(filter(None, (f"did you mean {near!r}?" if near else "", known)))
        return f"unknown {self.kind} {self.name!r}: {hint}"


class CannotWrite(VirlError):
    """The disk is full, or the place may not be written to; what was written before is safe."""


class CodeFault(VirlError):
    """A bug in code that virl runs; the exception that it raised is the cause. The exit code is 1."""


class RunStopped(VirlError):
    """Somebody who controls the run has interrupted it; it can be resumed."""


class NoStreetView(VirlError):
    """No panorama has this id, or none lies near this position."""


class NoImagery(VirlError):
    """The provider knows the panorama but has no picture of it."""


class NoRoute(VirlError):
    """No way leads from one stop to the next."""


class NotFound(VirlError):
    """No place, address or listing matches."""


class PlaceClosed(NotFound):
    """The place that was asked for is known, and has closed."""


Verdict = Literal["wait", "smaller", "never", "refused"]
"""The meaning of a refusal: another try may help; a request for less may be answered; no try helps, because
the reply is unsafe or too large; or the service said no, in its own words."""


class ProviderError(VirlError):
    """A provider on the network refused a request, answered nonsense, or cannot be reached.

    Args:
        service: whose service it was, such as ``"Places API (New)"``.
        reason: what went wrong.
        remedy: what to do about it.
        status: the HTTP status of the reply, `None` if none came.
        code: the provider's own name for the fault, such as ``"NOT_FOUND"``; empty if it gave none.
        verdict: the meaning of the refusal.
    """

    def __init__(
        self,
        service: str,
        reason: str,
        remedy: str,
        *,
        status: int | None = None,
        code: str = "",
        verdict: Verdict = "refused",
    ) -> None:
        super().__init__(f"{service}: {reason}: {remedy}")
        self.service = service
        self.reason = reason
        self.remedy = remedy
        self.status = status
        self.code = code
        self.verdict = verdict


def way_on() -> str:
    """Return the option, or the command of the host, with which the user goes on after a failure."""
    return _WAY_ON.get()


@contextmanager
def going_on_by(way: str) -> Iterator[None]:
    """Name another way to go on in the errors of a block, such as `inspect eval-retry`."""
    token = _WAY_ON.set(way)
    try:
        yield
    finally:
        _WAY_ON.reset(token)


class BudgetExceeded(VirlError):
    """The next request would cost more than is left; it was not sent.

    Args:
        limit_usd: dollars that may be spent.
        spent_usd: dollars spent so far.
        price_usd: dollars that the request would have cost, at most.
        request: what would have been asked.
    """

    def __init__(self, limit_usd: float, spent_usd: float, price_usd: float, request: str) -> None:
        super().__init__(
            f"${spent_usd:.4f} of the budget of ${limit_usd:.4f} is spent, and {request} may "
            f"cost ${price_usd:.4f} more: continue with {way_on()} and a higher --budget-usd"
        )
        self.limit_usd = limit_usd
        self.spent_usd = spent_usd
        self.price_usd = price_usd


class ModelUnavailable(VirlError):
    """A model or a plug-in cannot be used: the message names the extra, file, key or package at fault."""


class RequestRefused(ModelUnavailable):
    """A server refuses a request, and would refuse it again."""


class ModelShut(RequestRefused):
    """A server refuses every request, for its key or for the name of the model (HTTP 401, 403, 404)."""


class MindFailed(VirlError):
    """A mind gave no valid reply within its retries."""


class JournalBroken(VirlError):
    """A journal cannot be read or continued."""


def first_line(fault: BaseException, longest: int = 200) -> str:
    """Return the first line of an error's text, for a message of one line."""
    lines = [line.strip() for line in str(fault).splitlines() if line.strip()]
    return (lines[0] if lines else type(fault).__name__)[:longest]

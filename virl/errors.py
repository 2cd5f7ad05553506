"""The errors that virl raises for its user; all derive from `VirlError`.

The text of a `VirlError` is one line that says what is wrong and what to do. The command line prints it
and exits with code 2.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from inspect import Parameter, signature
from pathlib import Path
from types import MappingProxyType
from typing import Literal

_WAY_ON = ContextVar("way on", default="--resume")
FEW = 14
"""Most known names that a message lists where it can give a command or a near name instead; chosen."""
LONGEST_NAME = 60
"""Most characters of a name that are compared with known names; chosen."""
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
"""Command that lists all names of a kind, such as `virl cities`, by the kind, such as `city`."""


def choices(known: Collection[str]) -> str:
    """Return the end of a message on an unknown name: the known names, sorted, or "there are none"."""
    return f"choose one of: {', '.join(sorted(known))}" if known else "there are none"


def nearest_name(name: str, known: Collection[str]) -> str | None:
    """Return the known name most like a misspelt or shortened one, ignoring case; `None` if none is."""
    by_small_letters = {one.casefold(): one for one in sorted(known)}
    small = name[:LONGEST_NAME].casefold()
    close = get_close_matches(small, by_small_letters, n=1)
    begun = [one for one in by_small_letters if len(small) > 2 and one.startswith(small)]
    return by_small_letters[(close or begun)[0]] if close or len(begun) == 1 else None


def did_you_mean(name: str, known: Collection[str]) -> str:
    """Return the end of a message that suggests a known name for a misspelt one; empty if none is like it."""
    near = nearest_name(name, known)
    return f"; did you mean {near!r}?" if near else ""


class Interrupted(KeyboardInterrupt):
    """Error: Ctrl-C has ended a run that can be resumed; the text says how to resume it in Python."""

    def __init__(self, folder: Path) -> None:
        """Write the message for an interrupted run, given its folder."""
        super().__init__(f"the run stopped: go on with the same call and out={str(folder)!r}, resume=True")
        self.folder = folder
        """Folder of the interrupted run."""


class VirlError(Exception):
    """An error that the user can fix; its message is one line that says how."""

    @property
    def lines(self) -> Sequence[str]:
        """Return the error's lines for the command line: the message, or one for each of several faults."""
        return (str(self),)


class BadInput(VirlError):
    """Error: a file, field or argument does not hold what it should."""


class BadFile(BadInput):
    """Error: a file, or another source of fields, has one or more faults, kept in order of their lines."""

    def __init__(self, source: str, faults: Sequence[tuple[int | None, str]]) -> None:
        """Keep the name of the source, and (line, message) of each fault; `None` for no line."""
        super().__init__(source, faults)
        self.source = source
        self.faults = tuple(faults)

    def __str__(self) -> str:
        """Return all faults in one line."""
        if len(self.faults) == 1:
            return self._messages[0]
        bare = "; ".join(
            message if line is None else f"line {line}: {message}" for line, message in self.faults
        )
        return f"{self.source}: {len(self.faults)} faults: {bare}"

    @property
    def lines(self) -> Sequence[str]:
        """Return the error's lines for the command line: the number of faults if several, then each."""
        many = len(self.faults) > 1
        return (*([f"{self.source}: {len(self.faults)} faults"] if many else []), *self._messages)

    @property
    def _messages(self) -> list[str]:
        """Return each fault as a message with file and line."""
        return [
            f"{self.source}: {message}" if line is None else f"{self.source}, line {line}: {message}"
            for line, message in self.faults
        ]


class BadInputs(BadInput):
    """Error: several faults at once, each an error of its own."""

    def __init__(self, faults: Sequence[VirlError]) -> None:
        """Keep the errors, at least one."""
        super().__init__(tuple(faults))
        self.faults = tuple(faults)

    def __str__(self) -> str:
        """Return all faults in one line."""
        return "; ".join(map(str, self.faults))

    @property
    def lines(self) -> Sequence[str]:
        """Return the error's lines for the command line: the number of faults if several, then each."""
        lines = [line for fault in self.faults for line in fault.lines[len(fault.lines) > 1 :]]
        return (*([f"{len(lines)} faults"] if len(lines) > 1 else []), *lines)


def told_of(source: str, fault: VirlError) -> Sequence[str]:
    """Return an error's lines, without a headline, each with `source` in front unless it has it already."""
    lines = fault.lines[1:] if len(fault.lines) > 1 else fault.lines
    return [line if line.startswith(source) else f"{source}: {line}" for line in lines]


def raise_all(faults: Sequence[VirlError]) -> None:
    """Raise the only fault, or one error of all; do nothing without faults.

    Raises:
        VirlError: the only fault, or a `BadInputs` of all.
    """
    if len(faults) == 1:
        raise faults[0]
    if faults:
        raise BadInputs(faults)


class UnknownName(BadInput):
    """Error: a city, agent, model or prompt of that name does not exist."""

    def __init__(self, kind: str, name: str, known: Collection[str]) -> None:
        """Keep the noun for what has the name, such as "city", the unknown name, and the known names."""
        super().__init__(kind, name, known)
        self.kind = kind
        self.name = name
        self.known = known

    def __str__(self) -> str:
        """Return the message: the known name most like it, and the others or a command that lists them."""
        near = nearest_name(self.name, self.known)
        command = LISTINGS.get(self.kind)
        if command and len(self.known) > FEW:
            known = f"`{command}` lists all {len(self.known)}"
        else:
            known = "" if near and len(self.known) > FEW else choices(self.known)
        hint = " ".join(filter(None, (f"did you mean {near!r}?" if near else "", known)))
        return f"unknown {self.kind} {self.name!r}: {hint}"


class CannotWrite(VirlError):
    """Error: the disk is full or the path is not writable; files written before are unharmed."""


class CodeFault(VirlError):
    """Error: a bug in code that virl runs, whose exception is the cause. The exit code is 1."""


class RunStopped(VirlError):
    """Error: the user who controls a run has interrupted it; it can be resumed."""


class NoStreetView(VirlError):
    """Error: no panorama has this id, or none lies near this position."""


class NoImagery(VirlError):
    """Error: the provider has no picture of a panorama that it knows."""


class NoRoute(VirlError):
    """Error: no way leads from one stop to the next."""


class NotFound(VirlError):
    """Error: no place, address or listing matches."""


class PlaceClosed(NotFound):
    """Error: the requested place is known, but has closed."""


Verdict = Literal["wait", "smaller", "never", "refused"]
"""Remedy of a refusal: `wait` and retry; `smaller`, ask for less; `never`, none; `refused`, see the reply.

`never`: the reply is unsafe or too large. `refused`: the service said no, in its own words."""


class ProviderError(VirlError):
    """Error: a network provider refused a request, answered nonsense, or cannot be reached.

    Args:
        service: the name of the service, such as "Places API (New)".
        reason: the fault.
        remedy: advice to the user.
        status: the HTTP status of the reply; `None` if none came.
        code: the provider's own name for the fault, such as "NOT_FOUND"; empty if it gave none.
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
        """Write the message "service: reason: remedy"; keep its parts, HTTP status, code and verdict."""
        super().__init__(f"{service}: {reason}: {remedy}")
        self.service = service
        self.reason = reason
        self.remedy = remedy
        self.status = status
        self.code = code
        self.verdict = verdict


def way_on() -> str:
    """Return the option or command with which the user continues after a failure, by default "--resume"."""
    return _WAY_ON.get()


@contextmanager
def going_on_by(way: str) -> Iterator[None]:
    """Set the option or command by which errors in the block tell the user to continue."""
    token = _WAY_ON.set(way)
    try:
        yield
    finally:
        _WAY_ON.reset(token)


class BudgetExceeded(VirlError):
    """Error: the next request would cost more than the budget has left, so it was not sent."""

    def __init__(self, limit_usd: float, spent_usd: float, price_usd: float, request: str) -> None:
        """Write the message: dollars allowed, spent and most that `request`, a noun phrase, may cost."""
        super().__init__(
            f"${spent_usd:.4f} of the budget of ${limit_usd:.4f} is spent, and {request} may "
            f"cost ${price_usd:.4f} more: continue with {way_on()} and a higher --budget-usd"
        )
        self.limit_usd = limit_usd
        self.spent_usd = spent_usd
        self.price_usd = price_usd


class ModelUnavailable(VirlError):
    """Error: a model or plug-in cannot be used; the message names the missing extra, file, key or package."""


class RequestRefused(ModelUnavailable):
    """Error: a server refuses a request, and would refuse it again."""


class ModelShut(RequestRefused):
    """Error: a server refuses every request, for its key or model name (HTTP 401, 403, 404)."""


class MindFailed(VirlError):
    """Error: a mind gave no valid reply within its retries."""


class JournalBroken(VirlError):
    """Error: a journal cannot be read or continued."""


def first_line(fault: BaseException, longest: int = 200) -> str:
    """Return the first line of an error's text, at most `longest` characters."""
    lines = [line.strip() for line in str(fault).splitlines() if line.strip()]
    return (lines[0] if lines else type(fault).__name__)[:longest]


def check_keywords(function: Callable[..., object], given: Iterable[str], known: type) -> None:
    """Raise `TypeError` for the first name in `given` that is no keyword of a function or the dict `known`.

    Args:
        function: the function, for its name and its own keyword arguments.
        given: the names of the arguments.
        known: the typed dict of the arguments that it takes beside its own.

    Raises:
        TypeError: there is no such argument; the message suggests one that resembles it.
    """
    parameters = signature(function).parameters.values()
    names = [one.name for one in parameters if one.kind is Parameter.KEYWORD_ONLY] + [*known.__annotations__]
    for name in given:
        if name not in names:
            near = did_you_mean(name, names)
            raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}{near}")

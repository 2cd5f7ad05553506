"""What the user says while an agent is at work: on the terminal, or from a file."""

import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Protocol, Self

from pydantic import BeforeValidator, Field, RootModel, ValidationError, model_validator
from rich.console import Console

from virl.clock import Time, parse_clock
from virl.console import CAUTION, as_markup, say
from virl.errors import BadInput, UnknownName
from virl.settings.faults import faults_of
from virl.settings.model import Settings, fit, read_settings

TERMINAL = "terminal"


def _lower_keys(value: object) -> object:
    return {str(key).lower(): held for key, held in value.items()} if isinstance(value, Mapping) else value


Level = Annotated[float, Field(ge=0, le=100)]
State = Annotated[dict[str, Level], BeforeValidator(_lower_keys)]
"""The feelings of a person: a value in [0, 100] by name."""
NO_STATE: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment between two pieces of work, at which the user may speak up."""

    about: str
    """The work just done or proposed, in a sentence or two."""
    done: int = 0
    """Pieces of work done so far."""
    minute: int = 0
    """The time in the agent's world, minutes after midnight."""
    since: int = -1
    """The minute of the moment before; -1 at the first."""
    proposed: int = 0
    """The number of the proposal in question, 1 for the first; 0 between two pieces of work."""
    question: str = "Anything to say?"
    """The question that the user is asked on a terminal."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """The words and feelings that the user gives at one moment."""

    say: str = ""
    state: Mapping[str, float] = field(default_factory=lambda: NO_STATE)
    """Feelings that the user sets, each in [0, 100]."""


class User(Protocol):
    """Someone who may speak up between two pieces of work."""

    def expect(self, states: Collection[str]) -> None:
        """Say which states may be set, before the first moment.

        Raises:
            BadInput: what is already written down sets another.
        """
        ...

    def feedback(self, moment: Moment) -> Feedback | None:
        """Return what the user says at a moment, `None` if nothing."""
        ...


class Silent:
    """A user who lets the agent do."""

    def expect(self, states: Collection[str]) -> None:
        """Do nothing: nothing is expected."""

    def feedback(self, moment: Moment) -> Feedback | None:  # noqa: ARG002 - as `User.feedback`
        """Return no feedback."""
        return None


class UserMessage(Settings):
    """One thing that a user says, and when."""

    after: int | None = Field(default=None, ge=0)
    """Said once so many pieces of work are done; 0 is before the first."""
    at: Time | None = None
    """Said at the first moment at or after this time."""
    proposed: int | None = Field(default=None, ge=1)
    """Said when the whole work has been proposed so many times, to change it."""
    say: str = ""
    state: State = Field(default_factory=dict)

    @model_validator(mode="after")
    def _says_something_once(self) -> Self:
        if [self.after, self.at, self.proposed].count(None) != 2:
            raise ValueError("give one of `after: NUMBER`, `at: HH:MM` or `proposed: NUMBER`")
        if not self.say.strip() and not self.state:
            raise ValueError("give `say:` or `state:`")
        return self

    def is_due(self, moment: Moment) -> bool:
        """Return whether the message belongs to this moment."""
        if self.proposed or moment.proposed:
            return self.proposed == moment.proposed
        if self.at is None:
            return self.after == moment.done
        return moment.since < parse_clock(self.at) <= moment.minute


class _Entries(RootModel[tuple[UserMessage, ...]]):
    root: tuple[UserMessage, ...] = Field(min_length=1)


class Scripted:
    """A user who says what is written down, each thing at its moment."""

    def __init__(self, entries: tuple[UserMessage, ...], source: str = "feedback") -> None:
        """Say `entries`; faults are named with their `source`."""
        self._entries = entries
        self._source = source
        self.was_asked = False
        """True once there was a moment to speak up."""

    def expect(self, states: Collection[str]) -> None:
        """Check that every entry sets only feelings that are expected."""
        for number, entry in enumerate(self._entries, start=1):
            if fault := unknown_state(entry.state, states):
                raise BadInput(f"{self._source}: entry {number}: state: {fault}")

    def feedback(self, moment: Moment) -> Feedback | None:
        """Return all feedback that is due at this moment, as one."""
        self.was_asked = True
        due = [entry for entry in self._entries if entry.is_due(moment)]
        if not due:
            return None
        state = {name: value for entry in due for name, value in entry.state.items()}
        return Feedback(" ".join(entry.say.strip() for entry in due if entry.say.strip()), state)


class AtTerminal:
    """A user who is asked on the terminal, until the input ends."""

    def __init__(
        self, console: Console, pause: Callable[[], AbstractContextManager[object]] = nullcontext
    ) -> None:
        """Ask on `console`, within `pause()`: what else writes there should be still meanwhile."""
        self._console = console
        self._pause = pause
        self._listens = sys.stdin is not None and not sys.stdin.closed
        self.was_asked = False
        """True once there was a moment to speak up."""
        self._states: Collection[str] = ()

    def expect(self, states: Collection[str]) -> None:
        """Take other states for a slip of the fingers."""
        self._states = states

    def feedback(self, moment: Moment) -> Feedback | None:
        """Return what the user types; `None` for an empty line, and always after the end of the input."""
        self.was_asked = True
        if not self._listens:
            return None
        with self._pause():
            for line in moment.about.splitlines():
                say(self._console, as_markup(line))
            try:
                while True:
                    line = self._console.input(f"[bold]{as_markup(moment.question)}[/] (Enter: no) ").strip()
                    if not line:
                        return None
                    try:
                        return parse_line(line, self._states)
                    except BadInput as fault:
                        say(self._console, f"[{CAUTION}]{as_markup(str(fault))}[/]")
            except EOFError:
                self._listens = False
                say(self._console, "\n[dim]Nobody answers: the agent goes on without asking.[/]")
                return None


def unknown_state(state: Mapping[str, float], states: Collection[str]) -> str | None:
    """Return the error for the first state that is not among those expected; `None` if all are."""
    unknown = next((name for name in state if name not in states), None)
    return None if unknown is None else str(UnknownName("feeling", unknown, states))


def parse_line(line: str, states: Collection[str]) -> Feedback:
    """Read a typed line: words, and feelings such as `hunger=90` among them.

    Args:
        line: as it was typed.
        states: the feelings that may be set.

    Raises:
        BadInput: there is no such feeling, or its value is not in [0, 100].
    """
    words, told = [], {}
    for word in line.split():
        name, equals, value = word.rstrip(",;").partition("=")
        if equals and name.isidentifier():
            told[name] = value
        else:
            words.append(word)
    try:
        entry = UserMessage.model_validate({"after": 0, "say": " ".join(words), "state": told})
    except ValidationError as fault:
        first = faults_of(fault, UserMessage, {"after": 0, "say": " ".join(words), "state": told})[0]
        raise BadInput(f"{first}: write it in words, or as hunger=90") from None
    if unknown := unknown_state(entry.state, states):
        raise BadInput(f"{unknown}: write it in words, or as hunger=90")
    return Feedback(entry.say, entry.state)


def read_feedback(path: Path) -> Scripted:
    """Read a file of what a user says: a YAML list, described in `docs/how-to/run-agents.md`.

    Raises:
        BadInput: the file is missing or broken; names the line.
    """
    read = read_settings(path)
    if not isinstance(read.data, list):
        raise BadInput(f"{path}: must be a list of entries: `- after: 2`, then `say:` or `state:` below it")
    return Scripted(fit(read, _Entries).root, str(path))


def open_user(
    feedback: str | None,
    console: Console,
    pause: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> User:
    """Open the user of a run.

    Args:
        feedback: a file of what they say, `"terminal"` to ask them there, `None` for silence.
        console: where they are asked.
        pause: makes whatever else writes to the console hold still while they type.

    Raises:
        BadInput: the file is missing or broken.
    """
    if feedback is None:
        return Silent()
    return AtTerminal(console, pause) if feedback == TERMINAL else read_feedback(Path(feedback))

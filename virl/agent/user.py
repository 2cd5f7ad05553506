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
    """Return a mapping with its keys as lower-case text; any other value unchanged."""
    return {str(key).lower(): held for key, held in value.items()} if isinstance(value, Mapping) else value


Level = Annotated[float, Field(ge=0, le=100)]
State = Annotated[dict[str, Level], BeforeValidator(_lower_keys)]
"""A person's feelings: levels in [0, 100] by name, such as `hunger`."""
NO_STATE: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment between two pieces of an agent's work when the user may give feedback."""

    about: str
    """The piece of work just done or proposed, in a sentence or two."""
    done: int = 0
    """Number of pieces of work done so far."""
    minute: int = 0
    """Time in the agent's world, minutes after midnight."""
    since: int = -1
    """Time of the moment before, minutes after midnight; -1 at the first."""
    proposed: int = 0
    """Number of the proposal that is discussed, from 1; 0 between two pieces of work."""
    question: str = "Anything to say?"
    """Question printed for the user on a terminal."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """Words and feelings that the user gives at one moment."""

    say: str = ""
    state: Mapping[str, float] = field(default_factory=lambda: NO_STATE)
    """Feelings that the user sets: levels in [0, 100] by name; empty for none."""


class User(Protocol):
    """A source of feedback between two pieces of work: a file, a terminal, or nobody."""

    def expect(self, states: Collection[str]) -> None:
        """Set the names of the feelings that the user may set; called before the first moment.

        Raises:
            BadInput: feedback from a file sets another.
        """
        ...

    def feedback(self, moment: Moment) -> Feedback | None:
        """Return the user's feedback at a moment; `None` without any."""
        ...


class Silent:
    """A user who never gives feedback."""

    def expect(self, states: Collection[str]) -> None:
        """Ignore the names of feelings."""

    def feedback(self, moment: Moment) -> Feedback | None:  # noqa: ARG002 - as `User.feedback`
        """Return `None`: no feedback."""
        return None


class UserMessage(Settings):
    """One thing that a user says, and when."""

    after: int | None = Field(default=None, ge=0)
    """Number of pieces of work done after which the message is due, 0 at the start; `None` if unused."""
    at: Time | None = None
    """Time at or after which the message is due; `None` if unused."""
    proposed: int | None = Field(default=None, ge=1)
    """Number, from 1, of the proposed plan at which the message is due; `None` if unused."""
    say: str = ""
    state: State = Field(default_factory=dict)

    @model_validator(mode="after")
    def _says_something_once(self) -> Self:
        """Return the message; raise `ValueError` if it has not exactly one time, or says nothing."""
        if [self.after, self.at, self.proposed].count(None) != 2:
            raise ValueError("give one of `after: NUMBER`, `at: HH:MM` or `proposed: NUMBER`")
        if not self.say.strip() and not self.state:
            raise ValueError("give `say:` or `state:`")
        return self

    def is_due(self, moment: Moment) -> bool:
        """Return whether to say the message at this pause: by its count of work, clock time or proposal."""
        if self.proposed or moment.proposed:
            return self.proposed == moment.proposed
        if self.at is None:
            return self.after == moment.done
        return moment.since < parse_clock(self.at) <= moment.minute


class _Entries(RootModel[tuple[UserMessage, ...]]):
    """The list of messages in a feedback file."""

    root: tuple[UserMessage, ...] = Field(min_length=1)


class Scripted:
    """A user whose feedback comes from a file, each message at its moment."""

    def __init__(self, entries: tuple[UserMessage, ...], source: str = "feedback") -> None:
        """Prepare a user who gives the messages in `entries`; errors name their file, `source`."""
        self._entries = entries
        self._source = source
        self.was_asked = False
        """True once the run has had a moment for feedback."""

    def expect(self, states: Collection[str]) -> None:
        """Check that the messages set only these feelings; raise `BadInput` on the first other one."""
        for number, entry in enumerate(self._entries, start=1):
            if fault := unknown_state(entry.state, states):
                raise BadInput(f"{self._source}: entry {number}: state: {fault}")

    def feedback(self, moment: Moment) -> Feedback | None:
        """Return all feedback that is due at a moment, combined; `None` without any."""
        self.was_asked = True
        due = [entry for entry in self._entries if entry.is_due(moment)]
        if not due:
            return None
        state = {name: value for entry in due for name, value in entry.state.items()}
        return Feedback(" ".join(entry.say.strip() for entry in due if entry.say.strip()), state)


class AtTerminal:
    """A user who types feedback on the terminal, until the input ends."""

    def __init__(
        self, console: Console, pause: Callable[[], AbstractContextManager[object]] = nullcontext
    ) -> None:
        """Prepare to ask on `console`, within the block `pause()`, in which other output is silent."""
        self._console = console
        self._pause = pause
        self._listens = sys.stdin is not None and not sys.stdin.closed
        self.was_asked = False
        """True once the run has had a moment for feedback."""
        self._states: Collection[str] = ()

    def expect(self, states: Collection[str]) -> None:
        """Set the names of the feelings that may be typed; for others the user is asked again."""
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
    """Return an error message on the first feeling that is not among `states`; `None` if all are."""
    unknown = next((name for name in state if name not in states), None)
    return None if unknown is None else str(UnknownName("feeling", unknown, states))


def parse_line(line: str, states: Collection[str]) -> Feedback:
    """Return the feedback in a typed line: words, and any of the feelings `states`, such as `hunger=90`.

    Raises:
        BadInput: there is no such feeling, or its value is not in [0, 100].
    """
    words, feelings = [], {}
    for word in line.split():
        name, equals, value = word.rstrip(",;").partition("=")
        if equals and name.isidentifier():
            feelings[name] = value
        else:
            words.append(word)
    data = {"after": 0, "say": " ".join(words), "state": feelings}
    try:
        entry = UserMessage.model_validate(data)
    except ValidationError as fault:
        first = faults_of(fault, UserMessage, data)[0]
        raise BadInput(f"{first}: write it in words, or as hunger=90") from None
    if unknown := unknown_state(entry.state, states):
        raise BadInput(f"{unknown}: write it in words, or as hunger=90")
    return Feedback(entry.say, entry.state)


def read_feedback(path: Path) -> Scripted:
    """Return the user whose feedback a YAML file lists.

    Raises:
        BadInput: the file is missing or broken; names the line.
    """
    read = read_settings(path)
    if not isinstance(read.data, list):
        raise BadInput(f"{path}: must be a list of entries: `- after: 2`, then `say:` or `state:` below it")
    return Scripted(fit(read, _Entries).root, str(path))


def open_user(
    feedback: str | None, console: Console, pause: Callable[[], AbstractContextManager[object]] = nullcontext
) -> User:
    """Return the user for a file, `"terminal"` (asked within the block `pause()`) or `None` (a silent one).

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

"""`ScriptMind`: a mind that replies what a file says, in order, to try, test and show agents without a key.

    virl run zoe.yaml --mind scripted:zoe-script.yaml

The format is described in `docs/reference/characters.md`. How far a script has got is read from the
conversation (turns) and from the run's journal (replies), so that a run can be resumed.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

import yaml
from pydantic import Field, ValidationError, model_validator
from pydantic_core import to_jsonable_python

from virl.errors import MindFailed
from virl.files.json_reading import misfits
from virl.mind.base import Pictures, Prompt, ReplyT
from virl.mind.prompt import check_inputs
from virl.mind.rules import RuleMind
from virl.money.book import Exchange
from virl.money.ledger import Ledger
from virl.settings.model import Settings, load_settings

PREFIX = "scripted:"
"""Prefix of the names of scripted minds, before the file."""


class ScriptedCall(Settings):
    """A call of a tool: the tool's name, and its arguments."""

    tool: str = Field(min_length=1)
    args: dict[str, Any] = Field(default_factory=dict)


class ScriptedTurn(ScriptedCall):
    """One turn of a character with tools: a tool call, several calls, or the answer that ends the run."""

    tool: str = ""
    says: str = ""
    """Text that the mind says before it acts."""
    calls: tuple[ScriptedCall, ...] = ()
    """Tool calls of one turn, in order."""
    answer: str = ""
    """Final answer, which ends the run as the tool `finish` does; empty if the turn calls tools."""
    succeeded: bool = True
    """True if the run fulfilled its intention; of use only with `answer`."""
    place_id: str | None = None
    """Id of the chosen place, only with `answer`; `None` for none."""

    @model_validator(mode="after")
    def _does_one_thing(self) -> Self:
        """Return the turn; raise `ValueError` if it has not exactly one of `tool`, `calls` and `answer`."""
        if sum(map(bool, (self.tool, self.calls, self.answer))) != 1:
            raise ValueError("give exactly one of tool, calls and answer")
        return self

    @property
    def all_calls(self) -> tuple[ScriptedCall, ...]:
        """Tool calls of the turn; an answer counts as a call of `finish`."""
        if self.answer:
            given = {"answer": self.answer, "succeeded": self.succeeded, "place_id": self.place_id}
            return (ScriptedCall(tool="finish", args=given),)
        return self.calls or (ScriptedCall(tool=self.tool, args=self.args),)


class Script(Settings):
    """The content of a script file: turns of a character with tools, and replies to prompts."""

    turns: tuple[ScriptedTurn, ...] = ()
    """Turns of a character with tools, in the order they are played."""
    replies: dict[str, tuple[dict[str, Any], ...]] = Field(default_factory=dict)
    """Replies of a routine's questions, in order, by prompt name."""
    rest: Literal["rules"] | None = None
    """The mind that answers prompts absent from `replies`; `None`: such prompts fail."""


class ScriptMind:
    """A mind that plays turns and replies from a script file."""

    def __init__(self, path: Path, script: Script | None = None, ledger: Ledger | None = None) -> None:
        """Read the script from its file, unless its content is given; add questions to a ledger.

        Raises:
            BadInput: the file is missing or broken; names file, line and field.
        """
        self.path = path
        self.name = f"{PREFIX}{path}"
        self.script = script or load_settings(path, Script)
        self.ledger = ledger or Ledger()
        self._given: Counter[str] = Counter()
        """Number of replies given so far, by prompt name."""
        self._rules = RuleMind() if self.script.rest == "rules" else None
        self._consulted = False

    def with_own_ledger(self) -> "ScriptMind":
        """Return the same script at its present position with a new ledger, for a consulted agent."""
        other = ScriptMind(self.path, self.script, self.ledger.with_own_ledger())
        other._given, other._consulted = self._given, True
        return other

    def go_on_after(self, given: Mapping[str, int]) -> None:
        """Skip the replies that a resumed run was given already; `given` has their number by prompt name."""
        self._given.update(given)

    def ask(
        self,
        prompt: Prompt[ReplyT],
        *,
        images: Pictures = (),
        rule_inputs: Mapping[str, object] = {},
        **inputs: object,
    ) -> ReplyT:
        """Return the next reply that the script has for the prompt.

        Raises:
            BadInput: an input is missing or is not the prompt's.
            MindFailed: the script has no reply left for it, or one that does not fit.
        """
        check_inputs(prompt, inputs)
        listed = self.script.replies.get(prompt.name)
        if listed is None and self._rules:
            reply = self._rules.with_own_ledger().ask(
                prompt, images=images, rule_inputs=rule_inputs, **inputs
            )
            self._write_down(prompt.name, inputs, reply.model_dump())
            return reply
        replies, at = listed or (), self._given[prompt.name]
        if at >= len(replies):
            raise MindFailed(self._nothing_left(prompt.name, replies))
        line = self.line("replies", prompt.name, at)
        try:
            reply = prompt.reply.model_validate(replies[at], context=inputs)
        except ValidationError as fault:
            wrong = misfits(fault, "reply")[0]
            raise MindFailed(
                f"{self.path}, line {line}: reply to {prompt.name!r} does not fit: {wrong}"
            ) from fault
        self._given[prompt.name] += 1
        self._write_down(prompt.name, inputs, reply.model_dump())
        return reply

    def turn(self, number: int) -> ScriptedTurn:
        """Return a turn of a character with tools by number, counted from 1.

        Raises:
            MindFailed: the script has no such turn.
        """
        turns = self.script.turns
        if self._consulted:
            raise MindFailed(
                f"{self.path}: `turns` are for the agent that you run: let it consult agents with a routine"
            )
        if number > len(turns):
            where = f"line {self.line('turns', len(turns) - 1)}" if turns else "`turns` is empty"
            raise MindFailed(
                f"{self.path}, {where}: the script ends here, but the agent needs turn {number}: "
                "add it and resume, or end the script with an `answer`"
            )
        return turns[number - 1]

    def line(self, *path: str | int) -> int:
        """Return the line number, from 1, of the field at a path of keys and indices in the script."""
        # Read once more, since settings keep no line numbers.
        node = yaml.compose(self.path.read_text(encoding="utf-8"), yaml.SafeLoader)
        return 1 + max(_lines_on_path(node, path), default=0)

    def _nothing_left(self, prompt: str, replies: Sequence[object]) -> str:
        """Return the error text for a prompt to which the script, with these replies, has no further one."""
        if replies:
            line = self.line("replies", prompt, len(replies) - 1)
            return (
                f"{self.path}, line {line}: the last reply to {prompt!r} has been used, and the "
                "run needs another: add one and resume"
            )
        listed = ", ".join(sorted(self.script.replies)) or "none"
        return (
            f"{self.path}, line {self.line('replies')}: no reply to prompt {prompt!r}; there are replies to: "
            f"{listed}; add it, or `rest: rules`"
        )

    def _write_down(self, prompt: str, inputs: Mapping[str, object], reply: Mapping[str, object]) -> None:
        """Add a question to the prompt of this name, and its scripted reply, to the ledger."""
        self.ledger.add(Exchange(prompt, self.name, to_jsonable_python(dict(inputs)), reply))


def _lines_on_path(node: yaml.Node | None, path: Sequence[str | int]) -> Iterator[int]:
    """Yield the line number, from 0, of each YAML node along a path, as far as the path exists."""
    for part in path:
        if isinstance(node, yaml.MappingNode):
            found = next(((key, value) for key, value in node.value if key.value == part), None)
            if found is None:
                return
            yield int(found[0].start_mark.line)
            node = found[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            yield int(node.start_mark.line)

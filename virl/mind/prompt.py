"""Prompt files, `prompts/ASKER/NAME.md` (`docs/reference/prompts.md`), and the text that a model is sent.

A prompt's front matter names its reply type and its rule, so that no list anywhere names them. Its templates
are rendered with the inputs of a question; text from the world stands between marks that it cannot close.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any, NoReturn

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError, meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import AfterValidator, Field

from virl import resources
from virl.errors import BadInput, UnknownName
from virl.mind.base import Prompt, ReplyT
from virl.mind.replies import Reply, Text
from virl.plain_text import plain_lines
from virl.registry import load, one_line
from virl.settings.faults import spell_value
from virl.settings.model import Settings, parse_settings
from virl.settings.yaml import read_text

FENCE_OPEN, FENCE_CLOSE = "<<<DATA", "DATA>>>"
TURN = "turn"
"""Name of the variable that holds the earlier turn in the template of the message after it."""
_FENCE_RUN = re.compile(r"<{3,}|>{3,}")
_ANGLE_QUOTES = {
    "<": "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}",
    ">": "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}",
}


def render(prompt: Prompt[ReplyT], inputs: Mapping[str, object]) -> str:
    """Return the whole text that a prompt makes with its inputs: orders, question, and any turns.

    Raises:
        BadInput: an input is missing, is not the prompt's, or lacks something the template needs.
    """
    said = [part for turn in render_turns(prompt, inputs) for part in turn]
    return "\n".join(filter(None, [*render_parts(prompt, inputs), *said]))


def render_parts(prompt: Prompt[ReplyT], inputs: Mapping[str, object]) -> tuple[str, str]:
    """Return the rendered (orders, question) of a prompt; orders may be empty. Errors as `render`."""
    check_inputs(prompt, inputs)
    orders = _render_template(prompt, prompt.orders, inputs) if prompt.orders else ""
    return orders, _render_template(prompt, prompt.body, inputs)


def render_turns(prompt: Prompt[ReplyT], inputs: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return (reply as JSON, rendered message after it) for each earlier turn that the inputs list."""
    turns = inputs.get(prompt.turns)
    if not isinstance(turns, list | tuple):
        return []
    return [
        (_in_a_line(turn["reply"]), _render_template(prompt, prompt.told, {**inputs, TURN: turn}))
        for turn in turns
    ]


def check_inputs(prompt: Prompt[ReplyT], inputs: Mapping[str, object]) -> None:
    """Check that the names of the inputs are exactly those of the prompt.

    Raises:
        BadInput: an input is missing, or is none of the prompt's.
    """
    missing, extra = prompt.inputs - inputs.keys(), inputs.keys() - prompt.inputs
    if missing:
        raise BadInput(f"prompt {prompt.name!r}: input {', '.join(sorted(missing))} is missing")
    if extra:
        wanted = ", ".join(sorted(prompt.inputs))
        raise BadInput(f"prompt {prompt.name!r}: has no input {', '.join(sorted(extra))}; it takes {wanted}")


def fence(data: object) -> str:
    """Return data as text between marks that it cannot itself contain (the template filter `data`).

    A text stays as it is. Anything else is written as JSON, a list with a line for each item. Runs of three
    or more angle brackets become angle quotation marks; control characters and hidden ones are left out.
    """
    if isinstance(data, str):
        text = data
    elif isinstance(data, list | tuple) and data:
        text = "[" + ",\n ".join(map(_in_a_line, data)) + "]"
    else:
        text = _in_a_line(data)
    harmless = _FENCE_RUN.sub(lambda run: _ANGLE_QUOTES[run[0][0]] * len(run[0]), plain_lines(text))
    return f"{FENCE_OPEN}\n{harmless.strip()}\n{FENCE_CLOSE}"


def drop_empty(facts: Mapping[str, object]) -> dict[str, object]:
    """Return the facts, by name, whose value is not `None`, false or empty (the template filter `given`)."""
    return {
        name: value for name, value in facts.items() if value is not False and value not in (None, "", [], ())
    }


def _in_a_line(data: object) -> str:
    """Return data as JSON on one line; raise `TypeError` for what JSON cannot hold."""
    return json.dumps(data, ensure_ascii=False, default=_no_json)


def _no_json(value: object) -> NoReturn:
    """Raise `TypeError`, with the value in its message, since JSON cannot hold it."""
    raise TypeError(f"{value} is no JSON")  # an undefined name says which one it is


def _render_template(prompt: Prompt[ReplyT], template: str, inputs: Mapping[str, object]) -> str:
    """Return a template of a prompt rendered with the inputs; raise `BadInput` if they do not fit."""
    try:
        return plain_lines(_template(template).render(**inputs)).strip() + "\n"
    except (TemplateError, TypeError, ValueError) as fault:
        raise BadInput(f"prompt {prompt.name!r}: an input does not fit the template: {fault}") from fault


@lru_cache(maxsize=64)
def _template(body: str) -> Template:
    """Return a text as compiled Jinja template; cached, since walks ask few prompts thousands of times."""
    return environment().from_string(body)


@cache
def environment() -> ImmutableSandboxedEnvironment:
    """Return the Jinja environment of the templates: sandboxed, undefined names are errors."""
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["data"] = fence
    environment.filters["given"] = drop_empty
    return environment


REFERENCE = r"\.?[A-Za-z_][\w.]*:[A-Za-z_]\w*"
SPLIT = "---"
"""Text of the line in a prompt file between orders, question, and the message after an earlier turn."""


def _check_reference(text: str) -> str:
    """Return a text unchanged; raise `ValueError` if it has not the form MODULE:NAME."""
    if not re.fullmatch(REFERENCE, text):
        raise ValueError(f"must be MODULE:NAME, such as virl.mind.replies:Text, not {spell_value(text)}")
    return text


Reference = Annotated[str, AfterValidator(_check_reference)]
"""Name of something to import, such as `virl.mind.replies:Text`; a leading dot stands for a package."""


class FrontMatter(Settings):
    """The fields between the `---` lines of a prompt file."""

    about: str = Field(min_length=1)
    """The prompt's question, in one line."""
    inputs: tuple[str, ...]
    """Names of the variables that the template uses."""
    reply: Reference
    """The reply type, `module:Class`; a leading dot stands for the package of the routine with the prompt."""
    rule: Reference | None = None
    """The rule function, `module:function`, from a question and a lexicon to the reply; `None` for none."""
    stop: tuple[str, ...] = ()
    """Stop sequences that end a reply of plain text; only for the reply type `Text`."""
    turns: str | None = None
    """Name of the input that lists earlier turns, each sent as messages; `None` for a single question."""
    steady: bool = False
    """True if every question has the same schema, its own options given at the end; used for walks."""
    needs_pictures: bool = False
    """True if the prompt cannot be answered without the pictures that go with it."""


@dataclass(frozen=True, slots=True)
class PromptFolder:
    """A folder of prompt files, such as a character's, a routine's or virl's own."""

    path: Path
    package: str = ""
    """Name of the package that a leading dot in `reply` and `rule` stands for."""


@dataclass(frozen=True, slots=True)
class Prompts:
    """A list of prompt folders, looked through in order, and after them virl's own."""

    folders: tuple[PromptFolder, ...] = ()

    def load(self, name: str, reply: type[ReplyT]) -> Prompt[ReplyT]:
        """Return the prompt of a name such as `errands/list`, of type `reply`, from the first folder with it.

        Raises:
            UnknownName: there is no such prompt.
            BadInput: the file is broken, or asks for another reply; names file and line.
        """
        for folder in (*self.folders, PromptFolder(resources.data_folder("prompts"))):
            path = folder.path / f"{name}.md"
            if path.is_file():
                return read_prompt(path, name, reply, folder.package)
        raise UnknownName("prompt", name, prompt_names())


OUR_PROMPTS = Prompts()
"""Prompts looked up in virl's own folder alone."""


def prompt_names() -> list[str]:
    """Return the names of virl's own prompts, such as `errands/list`, sorted."""
    root = resources.data_folder("prompts")
    return sorted(path.relative_to(root).with_suffix("").as_posix() for path in root.rglob("*.md"))


def load_prompt(name: str, reply: type[ReplyT]) -> Prompt[ReplyT]:
    """Return one of virl's own prompts by name; errors as `Prompts.load`."""
    return OUR_PROMPTS.load(name, reply)


def read_prompt(path: Path, name: str, reply: type[ReplyT], package: str = "") -> Prompt[ReplyT]:
    """Return the prompt in a file; `package` is that of its routine, if any. Errors as `Prompts.load`.

    Args:
        path: of the file.
        name: of the prompt.
        reply: type of its reply.
        package: that it belongs to.
    """
    return _parse_prompt(read_text(path), path, name, reply, package)


@lru_cache(maxsize=256)
def _parse_prompt(text: str, path: Path, name: str, reply: type[ReplyT], package: str) -> Prompt[ReplyT]:
    """Return the prompt in a file's text, fully checked; cached, since parsing its template takes long."""
    matter, header, body = _split(text, path)
    if _reply_type(matter, header, path, package) is not reply:
        expected = f"{reply.__module__}:{reply.__qualname__}"
        _refuse(path, _line_of(header, "reply"), f"reply: is {matter.reply}, the code expects {expected}")
    _check_inputs(matter, header, body, path)
    if matter.stop and not (issubclass(reply, Text) and all(matter.stop)):
        _refuse(path, _line_of(header, "stop"), "stop: takes texts that are not empty, with reply: Text only")
    rule = _absolute(matter.rule, package) if matter.rule else None
    parts = body.split(f"\n{SPLIT}\n", 2 if matter.turns else 1)
    if matter.turns and len(parts) < 3:
        _refuse(
            path, _line_of(header, "turns"), f"turns: the template needs three parts between lines `{SPLIT}`"
        )
    orders, question, *told = parts if len(parts) > 1 else ("", body)
    return Prompt(
        name,
        frozenset(matter.inputs),
        reply,
        question,
        matter.stop,
        orders,
        matter.turns or "",
        "".join(told),
        matter.steady,
        matter.needs_pictures,
        rule,
    )


def check_prompt(path: Path, package: str = "") -> None:
    """Check a prompt file by itself, whatever reply its caller expects; `package`: of its routine, if any.

    Args:
        path: the file.
        package: of the routine that it comes with; a reference that begins with a dot is not followed
            without it.

    Raises:
        BadInput: the file is broken; names file and line.
    """
    matter, header, body = _split(read_text(path), path)
    _check_inputs(matter, header, body, path)
    for field, reference in (("reply", matter.reply), ("rule", matter.rule)):
        if reference and (package or not reference.startswith(".")):
            _load(reference, header, path, field, package)
    if package or not matter.reply.startswith("."):
        read_prompt(path, path.stem, _reply_type(matter, header, path, package), package)


def _split(text: str, path: Path) -> tuple[FrontMatter, list[str], str]:
    """Return (front matter, its lines, text of the templates) of a prompt file; errors name `path`."""
    lines = text.splitlines()
    if not lines or lines[0].rstrip() != "---":
        _refuse(path, 1, "should start with front matter between two `---` lines")
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        _refuse(path, 1, "front matter has no closing `---` line")
    header = lines[1:end]
    matter = parse_settings("\n".join(header), FrontMatter, source=str(path), first_line=2)
    return matter, header, "\n".join(lines[end + 1 :])


def _reply_type(matter: FrontMatter, header: list[str], path: Path, package: str) -> type[Reply]:
    """Return the front matter's reply type; raise `BadInput`, at its line in `header`, if no `Reply`."""
    line = _line_of(header, "reply")
    kind = _load(matter.reply, header, path, "reply", package)
    if not (isinstance(kind, type) and issubclass(kind, Reply)):
        _refuse(path, line, f"reply: {matter.reply} is not a virl.mind.replies.Reply")
    return kind


def _load(reference: str, header: list[str], path: Path, field: str, package: str) -> Any:
    """Return what a front matter's field names by reference; raise `BadInput` if it cannot be imported."""
    try:
        return load(_absolute(reference, package))
    except (ImportError, AttributeError) as fault:
        _refuse(path, _line_of(header, field), f"{field}: {reference} cannot be imported ({one_line(fault)})")


def _absolute(reference: str, package: str) -> str:
    """Return a reference with the package's name put before a leading dot."""
    return f"{package}{reference}" if reference.startswith(".") else reference


def _check_inputs(matter: FrontMatter, header: list[str], body: str, path: Path) -> None:
    """Raise `BadInput` if the inputs in the front matter and the variables of the templates differ."""
    body_line = len(header) + 2
    try:
        tree = environment().parse(body)
        used = meta.find_undeclared_variables(tree)
    except TemplateSyntaxError as fault:
        _refuse(path, body_line + fault.lineno, f"template: {fault.message}")
    if matter.turns and matter.turns not in matter.inputs:
        _refuse(path, _line_of(header, "turns"), f"turns: {matter.turns!r} is not among the inputs")
    used = (used - {TURN}) | {matter.turns} if matter.turns else used
    for name in sorted(used - set(matter.inputs)):
        line = min(node.lineno for node in tree.find_all(nodes.Name) if node.name == name)
        _refuse(path, body_line + line, f"template uses {name!r}, which is not among the inputs")
    unused = sorted(set(matter.inputs) - used)
    if unused:
        _refuse(path, _line_of(header, "inputs"), f"inputs: the template does not use {', '.join(unused)}")
    repeated = sorted({name for name in matter.inputs if matter.inputs.count(name) > 1})
    if repeated:
        _refuse(path, _line_of(header, "inputs"), f"inputs: {', '.join(repeated)} is repeated")


def _line_of(header: list[str], field: str) -> int:
    """Return the line number, in the prompt file, of a front matter's field; 1 if it has no such field."""
    return next((line for line, text in enumerate(header, 2) if text.startswith(f"{field}:")), 1)


def _refuse(path: Path, line: int, fault: str) -> NoReturn:
    """Raise `BadInput` for a fault at a line of a prompt file."""
    raise BadInput(f"{path}, line {line}: {fault}")

"""Prompt files: `prompts/NAME.md`, front matter and a Jinja template.

Described in `docs/reference/prompts.md`.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import NoReturn

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError, meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import BaseModel, Field

from virl import resources
from virl.errors import BadInput, UnknownName
from virl.mind import client_replies, day_replies, errand_replies, question_replies, replies, walk_replies
from virl.mind.base import Prompt, ReplyT
from virl.mind.replies import Reply, Text
from virl.settings import Settings, parse_settings

REPLY_MODULES = (replies, client_replies, errand_replies, day_replies, question_replies, walk_replies)
FENCE_OPEN, FENCE_CLOSE = "<<<DATA", "DATA>>>"
_FENCE_RUN = re.compile(r"<{3,}|>{3,}")
_SOFTER = {
    "<": "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}",
    ">": "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}",
}
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u2028\u2029]")


class FrontMatter(Settings):
    """What stands between the `---` lines of a prompt file."""

    about: str = Field(min_length=1)
    """What the prompt asks for, in a line."""
    inputs: tuple[str, ...]
    """The names that the template uses."""
    reply: str
    """A class in one of `REPLY_MODULES`."""
    stop: tuple[str, ...] = ()
    """Where a plain text ends; for the reply type `Text` alone."""


def fence(text: object) -> str:
    """Text from the world between marks that it cannot close: the `data` filter of the templates.

    Runs of three or more angle brackets inside the text become angle quotation marks, control characters
    become spaces.
    """
    harmless = _FENCE_RUN.sub(lambda run: _SOFTER[run[0][0]] * len(run[0]), _CONTROL.sub(" ", str(text)))
    return f"{FENCE_OPEN}\n{harmless.strip()}\n{FENCE_CLOSE}"


def prompt_names() -> list[str]:
    """The prompts there are; parts of a conversation, in `prompts/parts/`, are not among them."""
    return resources.names_in("prompts", ".md")


def load_prompt(name: str, reply: type[ReplyT]) -> Prompt[ReplyT]:
    """Read `prompts/NAME.md`.

    Args:
        name: the file's stem.
        reply: the type that the caller counts on.

    Raises:
        UnknownName: there is no such prompt.
        BadInput: the file is broken, or asks for another reply; names file and line.
    """
    path = resources.data_folder("prompts") / f"{name}.md"
    if not path.is_file():
        raise UnknownName("prompt", name, prompt_names())
    return read_prompt(path, name, reply)


def read_prompt(path: Path, name: str, reply: type[ReplyT]) -> Prompt[ReplyT]:
    """Read a prompt file; as `load_prompt`."""
    return _checked(_text_of(path), path, name, reply)


@lru_cache(maxsize=256)
def _checked(text: str, path: Path, name: str, reply: type[ReplyT]) -> Prompt[ReplyT]:
    """Checked once: a prompt is loaded for every question, and parsing its template takes long."""
    matter, header, body = _split(text, path)
    _reply_type(matter, header, path)
    if matter.reply != reply.__name__:
        _refuse(
            path, _line_of(header, "reply"), f"reply: is {matter.reply}, the code expects {reply.__name__}"
        )
    _check_inputs(matter, header, body, path)
    if matter.stop and not (issubclass(reply, Text) and all(matter.stop)):
        _refuse(path, _line_of(header, "stop"), "stop: takes texts that are not empty, with reply: Text only")
    return Prompt(name, frozenset(matter.inputs), reply, body, matter.stop)


def all_prompts() -> list[Prompt[BaseModel]]:
    """Every prompt there is, each with the reply type that its file names.

    Raises:
        BadInput: a file is broken; names file and line.
    """
    prompts = []
    for name in prompt_names():
        path = resources.data_folder("prompts") / f"{name}.md"
        matter, header, _ = _split(_text_of(path), path)
        reply: type[BaseModel] = _reply_type(matter, header, path)
        prompts.append(read_prompt(path, name, reply))
    return prompts


def render(prompt: Prompt[ReplyT], inputs: Mapping[str, object]) -> str:
    """The text that is sent to a model.

    Raises:
        BadInput: an input is missing, is not the prompt's, or lacks something the template needs.
    """
    check_inputs(prompt, inputs)
    try:
        return _template(prompt.body).render(**inputs).strip() + "\n"
    except (TemplateError, TypeError, ValueError) as fault:
        raise BadInput(f"prompt {prompt.name!r}: an input does not fit the template: {fault}") from fault


def check_inputs(prompt: Prompt[ReplyT], inputs: Mapping[str, object]) -> None:
    """Raise `BadInput` unless the inputs are exactly the prompt's."""
    missing, extra = prompt.inputs - inputs.keys(), inputs.keys() - prompt.inputs
    if missing:
        raise BadInput(f"prompt {prompt.name!r}: input {', '.join(sorted(missing))} is missing")
    if extra:
        wanted = ", ".join(sorted(prompt.inputs))
        raise BadInput(f"prompt {prompt.name!r}: has no input {', '.join(sorted(extra))}; it takes {wanted}")


@lru_cache(maxsize=64)
def _template(body: str) -> Template:
    """Compiled once: a model that walks is asked with the same few prompts thousands of times."""
    return _environment().from_string(body)


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["data"] = fence
    return environment


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise BadInput(f"{path}: cannot be read ({fault})") from fault


def _split(text: str, path: Path) -> tuple[FrontMatter, list[str], str]:
    """Front matter, its lines, and the template with its lines where they are in the file."""
    lines = text.splitlines()
    if not lines or lines[0].rstrip() != "---":
        _refuse(path, 1, "should start with front matter between two `---` lines")
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        _refuse(path, 1, "front matter has no closing `---` line")
    header = lines[1:end]
    matter = parse_settings("\n".join(header), FrontMatter, source=str(path), first_line=2)
    return matter, header, "\n".join(lines[end + 1 :])


def _reply_type(matter: FrontMatter, header: list[str], path: Path) -> type[Reply]:
    known = {
        name: kind
        for module in REPLY_MODULES
        for name, kind in vars(module).items()
        if isinstance(kind, type) and issubclass(kind, Reply)
    }
    if matter.reply not in known:
        there_is = ", ".join(sorted(known.keys() - {"Reply"}))
        _refuse(path, _line_of(header, "reply"), f"reply: unknown type {matter.reply!r}: there is {there_is}")
    return known[matter.reply]


def _check_inputs(matter: FrontMatter, header: list[str], body: str, path: Path) -> None:
    body_line = len(header) + 2
    try:
        tree = _environment().parse(body)
        used = meta.find_undeclared_variables(tree)
    except TemplateSyntaxError as fault:
        _refuse(path, body_line + fault.lineno, f"template: {fault.message}")
    for name in sorted(used - set(matter.inputs)):
        line = min(node.lineno for node in tree.find_all(nodes.Name) if node.name == name)
        _refuse(path, body_line + line, f"template uses {name!r}, which is not among the inputs")
    unused = sorted(set(matter.inputs) - used)
    if unused:
        _refuse(path, _line_of(header, "inputs"), f"inputs: the template does not use {', '.join(unused)}")
    repeated = sorted({name for name in matter.inputs if matter.inputs.count(name) > 1})
    if repeated:
        _refuse(path, _line_of(header, "inputs"), f"inputs: {', '.join(repeated)} stands twice")


def _line_of(header: list[str], field: str) -> int:
    return next((line for line, text in enumerate(header, 2) if text.startswith(f"{field}:")), 1)


def _refuse(path: Path, line: int, fault: str) -> NoReturn:
    raise BadInput(f"{path}, line {line}: {fault}")

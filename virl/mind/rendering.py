"""What a prompt's templates and inputs come to: the text that a model is sent.

Text from the world stands between marks that it cannot close.
"""

import json
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import NoReturn

from jinja2 import StrictUndefined, Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from virl.errors import BadInput
from virl.mind.base import Prompt, ReplyT
from virl.plain_text import plain_lines

FENCE_OPEN, FENCE_CLOSE = "<<<DATA", "DATA>>>"
TURN = "turn"
"""Name of an earlier turn in the template of what is told after it."""
_FENCE_RUN = re.compile(r"<{3,}|>{3,}")
_SOFTER = {
    "<": "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}",
    ">": "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}",
}


def render(prompt: Prompt[ReplyT], inputs: Mapping[str, object]) -> str:
    """Render the text that is sent to a model, orders and question in one.

    Raises:
        BadInput: an input is missing, is not the prompt's, or lacks something the template needs.
    """
    said = [part for turn in render_turns(prompt, inputs) for part in turn]
    return "\n".join(filter(None, [*render_parts(prompt, inputs), *said]))


def render_parts(prompt: Prompt[ReplyT], inputs: Mapping[str, object]) -> tuple[str, str]:
    """Render the orders, which may be empty, and the question; as `render`."""
    check_inputs(prompt, inputs)
    orders = _render_template(prompt, prompt.orders, inputs) if prompt.orders else ""
    return orders, _render_template(prompt, prompt.body, inputs)


def render_turns(prompt: Prompt[ReplyT], inputs: Mapping[str, object]) -> list[tuple[str, str]]:
    """Render the earlier turns: what the model replied, as JSON, and what it is told upon it; as `render`."""
    turns = inputs.get(prompt.turns)
    if not isinstance(turns, list | tuple):
        return []
    return [
        (_in_a_line(turn["reply"]), _render_template(prompt, prompt.told, {**inputs, TURN: turn}))
        for turn in turns
    ]


def check_inputs(prompt: Prompt[ReplyT], inputs: Mapping[str, object]) -> None:
    """Raise `BadInput` unless the inputs are exactly the prompt's.

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
    """Return data from the world between marks that it cannot close: the `data` filter of the templates.

    A text stays as it is. Anything else is written as JSON, a list with a line for each item. Runs of three
    or more angle brackets become angle quotation marks; control characters and hidden ones are left out.
    """
    text = data if isinstance(data, str) else _as_json(data)
    harmless = _FENCE_RUN.sub(lambda run: _SOFTER[run[0][0]] * len(run[0]), plain_lines(text))
    return f"{FENCE_OPEN}\n{harmless.strip()}\n{FENCE_CLOSE}"


def drop_empty(facts: Mapping[str, object]) -> dict[str, object]:
    """Return the facts without those that say nothing (`None`, false, empty): the `drop_empty` filter."""
    return {
        name: value for name, value in facts.items() if value is not False and value not in (None, "", [], ())
    }


def _as_json(data: object) -> str:
    if isinstance(data, list | tuple) and data:
        return "[" + ",\n ".join(map(_in_a_line, data)) + "]"
    return _in_a_line(data)


def _in_a_line(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, default=_no_json)


def _no_json(value: object) -> NoReturn:
    raise TypeError(f"{value} is no JSON")  # an undefined name says which one it is


def _render_template(prompt: Prompt[ReplyT], template: str, inputs: Mapping[str, object]) -> str:
    try:
        return plain_lines(_template(template).render(**inputs)).strip() + "\n"
    except (TemplateError, TypeError, ValueError) as fault:
        raise BadInput(f"prompt {prompt.name!r}: an input does not fit the template: {fault}") from fault


@lru_cache(maxsize=64)
def _template(body: str) -> Template:
    """Compile a template once: a model that walks is asked with the same few prompts thousands of times."""
    return environment().from_string(body)


@cache
def environment() -> ImmutableSandboxedEnvironment:
    """Return the templates' environment: undefined names are errors, and templates' code reaches nothing."""
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["data"] = fence
    environment.filters["given"] = drop_empty
    return environment

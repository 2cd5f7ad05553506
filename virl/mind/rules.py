"""`RuleMind`: a deterministic answer to every prompt, from lexicons. A baseline, and no model."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, get_type_hints

from pydantic import BaseModel, ValidationError
from pydantic_core import to_jsonable_python

from virl.errors import BadInput, MindFailed
from virl.files.json_reading import misfits
from virl.mind.base import Pictures, Prompt, ReplyT
from virl.mind.lexicon import Lexicon, load_lexicon
from virl.mind.prompt import check_inputs
from virl.mind.replies import Reply
from virl.money.book import Exchange
from virl.money.ledger import Ledger
from virl.registry import load, one_line

Rule = Callable[[Any, Lexicon], Reply]
"""A function that answers a prompt: from a pydantic model of its inputs and a lexicon to the reply."""


class RuleMind:
    """A mind that answers by rules: no key, no network, the same answer every time."""

    def __init__(self, lexicon: Lexicon | None = None, ledger: Ledger | None = None) -> None:
        self._lexicon = lexicon or load_lexicon()
        self._ledger = ledger or Ledger()

    @property
    def name(self) -> str:
        """The name of the mind, `"rules"`."""
        return "rules"

    @property
    def ledger(self) -> Ledger:
        """The ledger to which every question and reply is added."""
        return self._ledger

    def with_own_ledger(self) -> "RuleMind":
        """Return the same rules with a new ledger, for work that runs in parallel."""
        return RuleMind(self._lexicon, self._ledger.with_own_ledger())

    def ask(
        self,
        prompt: Prompt[ReplyT],
        *,
        images: Pictures = (),  # noqa: ARG002
        rule_inputs: Mapping[str, object] = {},
        **inputs: object,
    ) -> ReplyT:
        """Return the reply of the prompt's rule function; images are ignored.

        Raises:
            BadInput: an input is missing, is not the prompt's, or has the wrong shape.
            MindFailed: there is no rule for the prompt, or the rule finds no answer.
        """
        check_inputs(prompt, inputs)
        if prompt.rule is None:
            raise MindFailed(f"no rule answers prompt {prompt.name!r}: choose a model with --mind")
        question, rule = find_rule(prompt.rule)
        try:
            answer = rule(question.model_validate({**inputs, **rule_inputs}), self._lexicon)
        except ValidationError as fault:
            raise BadInput(f"prompt {prompt.name!r}: input {misfits(fault)[0]}") from fault
        reply = prompt.reply.model_validate(answer.model_dump(), context=inputs)
        self._ledger.add(Exchange(prompt.name, self.name, to_jsonable_python(inputs), reply.model_dump()))
        return reply


@cache
def find_rule(reference: str) -> tuple[type[BaseModel], Rule]:
    """Return (question type, function) of a rule; the type is that of its first parameter.

    Args:
        reference: `module:function`.

    Raises:
        BadInput: there is no such function, or its first parameter is no pydantic model.
    """
    try:
        rule: Rule = load(reference)
        question = next(iter(get_type_hints(rule).values()), None)
    except (ImportError, AttributeError, TypeError, NameError) as fault:
        raise BadInput(f"rule {reference} cannot be loaded ({one_line(fault)})") from fault
    if not (isinstance(question, type) and issubclass(question, BaseModel)):
        raise BadInput(f"rule {reference}: the first parameter must be a pydantic model of the inputs")
    return question, rule

"""`RuleMind`: a mind that answers prompts by rules and word lists; a baseline without any model."""

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
"""Function from (pydantic model of a prompt's inputs, lexicon) to the reply."""


class RuleMind:
    """A mind that answers by rules: no key, no network, the same answer every time."""

    def __init__(self, lexicon: Lexicon | None = None, ledger: Ledger | None = None) -> None:
        """Prepare to answer with the words of a lexicon, by default virl's; add questions to a ledger."""
        self.name = "rules"
        self.ledger = ledger or Ledger()
        self._lexicon = lexicon or load_lexicon()

    def with_own_ledger(self) -> "RuleMind":
        """Return the same mind with a new ledger, so that the cost of side work is counted separately."""
        return RuleMind(self._lexicon, self.ledger.with_own_ledger())

    def ask(
        self,
        prompt: Prompt[ReplyT],
        *,
        images: Pictures = (),  # noqa: ARG002
        rule_inputs: Mapping[str, object] = {},
        **inputs: object,
    ) -> ReplyT:
        """Return the reply that the prompt's rule function gives; images are ignored.

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
        self.ledger.add(Exchange(prompt.name, self.name, to_jsonable_python(inputs), reply.model_dump()))
        return reply


@cache
def find_rule(reference: str) -> tuple[type[BaseModel], Rule]:
    """Return (type of the question, function) of a rule `module:function`; the type is its first parameter's.

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

"""Multiple choice: reading the letter out of a reply, and the rounds of circular evaluation."""

import re
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field

from virl.mind.lexicon import Lexicon
from virl.mind.replies import Reply

LETTERS = "ABCD"

_STRICT = re.compile(
    r"""^\s*+(?:[("'*]++\s*+)?                  # a bracket, quotes or bold before it
        (?:(?:the\s++)?(?:correct\s++|best\s++)?(?:answer|option|choice)
            \s*+(?:is|:)?\s*+:?\s*+(?:[("'*]++\s*+)?)?
        (?:option\s++)?
        ([A-Da-d])                              # the letter alone ...
        (?![A-Za-z0-9'])                        # ... which begins no word
        [^\S\n]*+(?:[)"'*]+[^\S\n]*+)?(?:[.:,)\n-]|$)  # and punctuation, a new line or nothing after it""",
    re.VERBOSE | re.IGNORECASE,
)
_ANOTHER = re.compile(r"\s*(?:(?:and|or|[&/,])\s*)?[(]?[A-D]\s*(?:[).,;]|and\b|or\b|$)")
"""A second letter behind the first."""
_LISTED = re.compile(r"""^[^\S\n]*+[("'*]*+[A-D]\s*[).:]""", re.MULTILINE)
"""A letter that labels a line, as where the options are repeated."""


def strict_letter(reply: str) -> str | None:
    """Return the one letter that a reply chooses; `None` if it chooses none, or names several.

    `B`, `(b)`, `B.`, `B) A bank` and `The answer is B.` choose B. `Both A and D`, `Customers come` and
    `A bank` choose none: a letter has to stand alone, at the beginning or after "the answer is". A reply that
    repeats the options line by line chooses none either.
    """
    found = _STRICT.match(reply)
    if not found or _ANOTHER.match(reply, found.end()) or _LISTED.search(reply, found.end()):
        return None
    return found.group(1).upper()


class MappedLetter(Reply):
    """The option that a reply means, as a chat model reads it."""

    letter: Literal["A", "B", "C", "D", "X"] = Field(
        description="The option that the reply means; X for none of them, or several."
    )


class ReplyQuestion(BaseModel):
    """Inputs of `vqa/letter`."""

    question: str
    options: tuple[str, ...]
    reply: str


def map_reply(question: ReplyQuestion, _: Lexicon) -> MappedLetter:
    """Return the one option that stands in the reply as a whole; `X` where none or several do."""
    said = [
        letter
        for letter, option in zip(LETTERS, question.options, strict=True)
        if option.casefold() in question.reply.casefold()
    ]
    return MappedLetter.model_validate({"letter": said[0] if len(said) == 1 else "X"})


def needs_mapping(reply: str, right: str) -> bool:
    """Return whether the published code asks a chat model what a reply means."""
    return legacy_letter(reply, right) is None


def legacy_letter(reply: str, right: str, mapped: str = "") -> str | None:
    """Return the letter that the published code takes, given the right one.

    An exact letter with `.`, `)` or `,` after it; else the right letter if the reply begins with it in either
    case: so `Customers come` is C where C is right; else what a chat model read in it.

    Args:
        reply: the model's words.
        right: the right letter.
        mapped: what a chat model read in the reply, if one was asked.
    """
    text = reply.strip()
    if re.fullmatch(r"[A-D][.),]?", text):
        return text[0]
    if text[:1].upper() == right.upper():
        return right
    return mapped or None


def rotations(options: Sequence[str], answer: int) -> list[tuple[tuple[str, ...], int]]:
    """Return the options of each round of circular evaluation, with the place of the right one.

    Args:
        options: in the order of the first round.
        answer: the right one's place, from 0.
    """
    count = len(options)
    return [
        (tuple(options[(place + shift) % count] for place in range(count)), (answer - shift) % count)
        for shift in range(count)
    ]

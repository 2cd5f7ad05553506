"""Pronouns of a wish that stand for something of which the rules read nothing."""

import re
from collections.abc import Sequence

from virl.mind.lexicon import phrase_pattern
from virl.mind.understanding.sentences import ASIDE, NARROWING, USED, Sentence, Word

_THING = r"(?:one|ones|some|it|that|this|them|those|these|the same|another(?: one)?|any|such)"
_END = (
    r"(?= (?:please|too|again|as well|here|there|now|today|nearby|close by|near|in|at|on|for|with|to|and|or"
    r"|but|like|around)\b|$)"
)
_WITH = re.compile(rf"\b(?:with|without) {_THING}{_END}")
_WANTED = re.compile(
    r"\b(?:wants?|needs?|see|visit|find|gets?|buys?|brings?|fetch(?:es)?|takes?|collects?|choose|pick"
    rf"|looking for|looks? for|(?:to|should|must|may|can|could|would|'d) (?:have|like|love)) {_THING}{_END}"
)
_FOR_AN_ANIMAL = re.compile(
    r"\b(?:where|which|that|who|so|if|when) (?:he|she|it|they)\b.*"
    rf"|\b(?:for|with|lets?|takes?|welcomes?|admits?|allows?|brings?) (?:him|her|it|them){_END}"
)
_OF_A_PLACE = re.compile(r"\b(?:where|so) it\b.*")
"""A clause about what a place is like, in which "it" is no place."""
_OWNED = re.compile(r"\b(?:had|has|have|with|got|loved|liked) (?:\w+ )?an?\b")
"""Words of an aside with a thing that one may want too, though another noun comes after it."""
_DENIED = re.compile(r"\b(?:hat(?:e|es|ed)|dislikes?|avoids?|not|no|never|nothing|cannot|\w+n't)\b")


def mark_references(
    sentences: Sequence[Sentence], animals: tuple[str, ...], told: Sequence[Word] = ()
) -> None:
    """Mark pronouns as narrowing whose noun is an aside or denied: "we had a dishwasher; a flat with one".

    Args:
        sentences: the sentences of a text, with the marks that they have.
        animals: words of those for whom a place has to be fit, if it is said what they do there.
        told: words of courtesy and manner, to which no pronoun refers.
    """
    before: list[Word] = []
    is_denied = has_animal = is_owned = False
    for clause in (clause for sentence in sentences for clause in sentence.clauses()):
        said = " ".join(word.word for word in clause)
        for pattern in (_WITH, _WANTED):
            for found in pattern.finditer(said):
                own = _content(clause[: _at(said, found.start())], told)
                if pattern is _WITH:  # the noun just before is what has it
                    own = own if len(_runs(own, clause)) > 1 else []
                if not own and not before:
                    refers = pattern is not _WITH
                else:
                    refers = any(word.state == USED for word in own or before)
                    denied = _DENIED.search(said[: found.start()]) if own else is_denied
                    refers = refers and not denied and not is_owned
                if not refers:
                    _narrow(clause, said, found)
        for pattern in (_FOR_AN_ANIMAL,) * has_animal + (_OF_A_PLACE,):
            for found in pattern.finditer(said):
                _narrow(clause, said, found)
        has_animal = has_animal or bool(phrase_pattern(animals).search(said))
        if content := _content(clause, told):
            before, is_denied = content, bool(_DENIED.search(said))
            is_owned = is_owned or (content[0].state == ASIDE and bool(_OWNED.search(said)))


def _content(words: Sequence[Word], told: Sequence[Word]) -> list[Word]:
    """Return the words that a pronoun may stand for."""
    return [
        word
        for word in words
        if word.state == USED
        or (word.state == ASIDE and not word.word.endswith("ly") and all(word is not one for one in told))
    ]


def _runs(content: Sequence[Word], clause: Sequence[Word]) -> list[Word]:
    """Return the first word of each stretch of words that follow one another in a clause."""
    places = [next(at for at, one in enumerate(clause) if one is word) for word in content]
    return [word for word, at in zip(content, places, strict=True) if at - 1 not in places]


def _narrow(clause: Sequence[Word], said: str, found: re.Match[str]) -> None:
    for word in clause[_at(said, found.start()) : _at(said, found.end()) + 1]:
        if word.state != USED:
            word.state = NARROWING


def _at(said: str, position: int) -> int:
    """Return the number of the word at a position."""
    return said[:position].count(" ")

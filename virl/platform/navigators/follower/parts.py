"""What rules are made of: `<name>` in a pattern stands for one of `PARTS`."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from virl.platform.navigators.follower.clauses import Clause

NAME_MARK = "\ue000"
"""A character of no text, which with a number stands for the name of a landmark."""

PARTS = {
    "side": r"(?:left|right)",
    "ordinal": r"(?:\d+(?:st|nd|rd|th)|next|following|another|last|final)",
    "number": r"(?:\d+|SOME)",
    "crossing": (
        r"(?:LIGHT|DOUBLE|INTERSECTION|THREEWAY|FOURWAY|MANYWAY|TEE|STOPSIGN|CROSSWALK|BLOCKEND|ROADEND|"
        r"SIDESTREET|FORK)"
    ),
    "street": r"(?:street|road|corner|block|set|1|avenue)s?",
    "which": (
        r"(?:the|a|an|this|that|these|those|your|any|all|of|more|other|upcoming|immediate|very|same|small|big|"
        r"quick|short|long|little|nearby|close|closest|nearest|way|traffic|left|right|hand|"
        r"full|real|actual)"
    ),
    "size": r"(?:immediate|very|small|big|little|nearby|upcoming|available|narrow|possible)",
    "go": (
        r"(?:go|going|head|heading|walk|walking|continue|continuing|proceed|move|moving|keep|follow|travel|"
        r"drive|cross|pass|squeeze|advance|step)"
    ),
    "turn": (
        r"(?:turn|turning|make|making|take|taking|hang|hanging|bear|bearing|veer|veering|go|going|head|keep|"
        r"stay|curve|walk|cut|swing|fork|merge|set off)"
    ),
    "mild": r"(?:1/2|bear|bearing|veer|veering|keep|stay|curve|fork|merge|slight|slightly)",
    "how": (
        r"(?:an?|the|your|another|1|slight|slightly|sharp|sharply|hard|quick|quickly|immediate|immediately|"
        r"last|final|only|to|almost|very|small|available|possible|onto|it|this|that|around|wide|full|"
        r"right away|again|turn)"
    ),
    "start": (
        r"(?:go|head|walk|move|proceed|travel|continue|follow|drive|take|make|keep|turn <side>|"
        r"(?:taking|making|turning) (?:an? |the )?(?:\w+ )?<side>)"
    ),
    "just": r"(?:just|right|immediately|shortly|well|slightly|barely|directly|almost|about|1/2 way)",
    "arrive": (
        r"(?:reaching|getting to|entering|exiting|leaving|crossing|passing|passing through|"
        r"(?:going|walking|continuing|heading|moving)(?: straight)? through|coming to|approaching|"
        r"you(?: will)?(?: have)? (?:reach|get to|go to|enter|exit|come to|hit|pass|"
        r"passed|cross|arrive at|approach|go through|actually enter)|the start of|completely)"
    ),
    "at": (
        r"(?:at|when you (?:reach|get to|come to|hit|see)|once you (?:reach|get to)|after|before|just past|"
        r"past|onto|into|on|by|in|down)"
    ),
    "turned": r"(?P<verb><turn>(?: (?:<how>|<ordinal>|<mild>)){0,4}?) (?P<turned><side>)",
    "place": (
        r"(?:(?:<which>|<ordinal>|<number>) )*?"
        r"(?:<crossing>|(?:1st|2nd|3rd|next|following|another|at the|to the)(?: <size>)? <street>"
        r"(?! (?:of|with))|the (?:next|following) 1(?= with)|(?:the|those) 1s?(?=<soon>)|"
        r"\d(?:st|nd|rd|th) 1)<suffix>"
    ),
    "suffix": r"(?: (?:of|in|at) (?:the|that|this|a) (?:DOUBLE|INTERSECTION)|<soon>)?",
    "soon": (
        r"(?: (?:right away|almost immediately)(?= [.,]|$)"
        r"| (?:almost )?(?:immediately|shortly|right|soon|directly) (?:after(?:wards)?|following)"
        r"(?: (?:it|that|this|turning|you turn|"
        r"(?:your|the) (?:turn|LIGHT|INTERSECTION|\d+(?:st|nd|rd|th)(?: LIGHT| 1)?)))?"
        r"(?= (?:[.,]|and|with|turn|take|make|go|to)\b| [.,]|$))"
    ),
    "it": r"(?:it|this|that|here|there|them)",
    "end": r"(?= [.,]| and|$)",
}
"""Patterns of words by the name that stands for them in rules, as `<side>`."""
_PART = re.compile(r"(?<!\?P)<(\w+)>")


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern of words and the function that makes its clause."""

    name: str
    example: str
    pattern: re.Pattern[str]
    make: Callable[[re.Match[str]], Clause | None]
    """Function that returns the clause of a match; `None` for words that mean nothing."""


def rule(name: str, example: str, phrase: str, make: Callable[[re.Match[str]], Clause | None]) -> Rule:
    """Return a rule for a phrase: a pattern of whole words in which `<name>` stands for one of `PARTS`.

    Args:
        name: of the rule.
        example: phrase that it is for.
        phrase: pattern with named parts.
        make: makes the clause of a match.
    """
    return Rule(name, example, _pattern(phrase), make)


def _pattern(text: str) -> re.Pattern[str]:
    """Return the compiled pattern of a phrase, with each `<name>` replaced by its part."""
    while _PART.search(text):
        text = _PART.sub(lambda part: PARTS[part[1]], text)
    return re.compile(rf"(?:{text})(?![^ ])")

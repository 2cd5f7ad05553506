"""The parts that rules are made of, and what a matched phrase means: its clause.

`<name>` in a pattern stands for one of `PARTS`. The names of groups are those of the rules' patterns.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from virl.platform.navigators.follower.clauses import (
    Clause,
    Kind,
    LandmarkClause,
    NamedCrossing,
    OrientClause,
    PassClause,
    ReachClause,
    Relation,
    Side,
    TurnClause,
    WhereClause,
)

NAME_MARK = "\ue000"
"""Character that, with an index after it, replaces a landmark's name in a text; found in no instruction."""

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
"""Patterns of words, by the name that stands for them in the phrase of a rule, such as `<side>`."""
_PART = re.compile(r"(?<!\?P)<(\w+)>")


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern of words in an instruction, with the function that makes a clause of each match."""

    name: str
    example: str
    pattern: re.Pattern[str]
    make: Callable[[re.Match[str]], Clause | None]
    """Function that returns the clause of a match; `None` for words that mean nothing."""


def rule(name: str, example: str, phrase: str, make: Callable[[re.Match[str]], Clause | None]) -> Rule:
    """Return the rule that reads a phrase, a pattern of whole words with `<name>` for each of `PARTS`.

    Args:
        name: of the rule, for tests and studies.
        example: words that the rule reads.
        phrase: regular expression with `<name>` parts.
        make: returns the clause of a match; `None` for words that mean nothing.
    """
    while _PART.search(phrase):
        phrase = _PART.sub(lambda part: PARTS[part[1]], phrase)
    return Rule(name, example, re.compile(rf"(?:{phrase})(?![^ ])"), make)


MOST, MOST_STEPS = 99, 12.0  # chosen: more than anybody counts
SOME_STEPS = 3.0
"""Number of steps (links) that "a few steps" means; measured on map2seq_seen/dev."""
LESS, MORE = 0.8, 1.2
"""Factors on a fraction after "less than" and after "more than".
Measured on map2seq_seen/dev, where "less than half" is 0.4."""
_KINDS: dict[str, Kind] = {
    "LIGHT": "light",
    "DOUBLE": "double",
    "TEE": "tee",
    "ROADEND": "end",
    "FORK": "fork",
    "BLOCKEND": "block",
    "SIDESTREET": "side",
    "THREEWAY": "three",
    "FOURWAY": "four",
    "MANYWAY": "many",
    "street": "street",
    "road": "street",
    "corner": "corner",
}
_RELATIONS: dict[str, Relation] = {
    **dict.fromkeys(("before", "prior", "short", "shy", "until", "from"), "before"),
    **dict.fromkeys(("after", "past", "beyond", "other", "far", "across", "into"), "after"),
    **dict.fromkeys(("in", "inside", "under", "underneath", "middle", "center", "centre"), "in"),
}
_ORDINAL = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b")
_NUMBER = re.compile(r"\b(\d+)\b(?!/)")
_SOON = re.compile(
    r"\b(?:immediate|quick)|(?:immediately|shortly|right|soon|directly) (?:after|following)"
    r"|right away|almost immediately"
)
_QUICK = re.compile(r"\b(?:immediate|quick)")
_SHARP = re.compile(r"\b(?:sharp|sharply|hard)\b")
_MILD = re.compile(rf"\b{PARTS['mild']}\b")


def place(words: str) -> NamedCrossing:
    """Return the crossing that normalised words name, such as "the next LIGHT"; else an intersection."""
    kinds = [_KINDS[noun] for word in words.split() if (noun := word.rstrip("s")) in _KINDS]
    return NamedCrossing(
        kinds[-1] if kinds else "intersection",
        _ordinal(words),
        following=bool(re.search(r"\b(?:next|following|another|other|more)\b", words)),
        earlier=bool(re.search(r"\b(?:this|these|that|it|here|there|them|same)\b", words)),
        near=bool(re.search(r"\b(?:nearest|closest|close|nearby)\b", words)),
        soon=bool(_SOON.search(words)),
    )


def turn(match: re.Match[str]) -> TurnClause:
    """Return the turn that a match reads from its groups `verb`, `turned` (side) and `place` (crossing)."""
    words = match["verb"]
    return TurnClause(
        side(match["turned"]),
        place(match["place"]) if match["place"] else None,
        slight=bool(_MILD.search(words)) or "FORK" in match[0],
        sharp=bool(_SHARP.search(words)),
        nth=_ordinal(words),
        soon=bool(match.groupdict().get("soon")),
        quick=bool(_QUICK.search(match[0].removesuffix(match["place"] or ""))),
    )


def turns(match: re.Match[str]) -> TurnClause:
    """Return one or more turns to one side, from a match's groups `verb`, `turned`, `place` and `number`."""
    return replace(turn(match), nth=None, times=count(match["number"]))


def read_passing(match: re.Match[str]) -> PassClause:
    """Return the crossings to pass, from a match's groups `place` and `twice`."""
    words = match["place"]
    if words in ("it", "this", "that"):
        return PassClause(
            1,
            NamedCrossing("intersection", earlier=True),
            thing="through" not in match[0] and "cross" not in match[0],
        )
    return PassClause(max(count(words), 2 if match["twice"] else 1), place(words), vague="SOME" in words)


def reach(match: re.Match[str]) -> ReachClause:
    """Return the crossing to come to, from a match's groups `before` and `place`."""
    return ReachClause(place(match["place"]), before=bool(match["before"]))


def place_clause(match: re.Match[str]) -> WhereClause:
    """Return a place before, in or after a crossing, from a match's groups `relation` and `place`."""
    return WhereClause(_relation(match["relation"]), place(match["place"]) if match["place"] else None)


def steps(match: re.Match[str]) -> WhereClause | LandmarkClause:
    """Return a place some steps from a crossing, turn or the walker; a landmark for steps from a thing."""
    if match["relation"] and not match["place"] and match["thing"] is not None:
        return LandmarkClause()
    numbers = [float(number) for number in _NUMBER.findall(match["number"])]
    said = sum(numbers) / len(numbers) if numbers else SOME_STEPS if "SOME" in match["number"] else 1.0
    relation = _relation(match["relation"]) if match["relation"] else "beyond"
    return WhereClause(
        "after" if match["turned"] else relation,
        place(match["place"]) if match["place"] else None,
        steps=min(said, MOST_STEPS),
        turned=bool(match["turned"]),
    )


def fraction(match: re.Match[str]) -> WhereClause:
    """Return a place at a fraction of the block, from a match's groups `hedge`, `part` and `place`."""
    words, hedge = match["part"], match["hedge"] or ""
    top, _, bottom = words.rstrip("% ").partition("/")
    value = float(top) / (100.0 if words.endswith("%") else float(bottom) or 1.0)
    if re.search(r"less|under|not|almost|nearly", hedge):
        value *= LESS
    elif re.search(r"more|over|past", hedge):
        value *= MORE
    to = place(match["place"]) if match["place"] else None
    return WhereClause("at", to, fraction=min(max(value, 0.02), 1.0))


def orient(match: re.Match[str]) -> OrientClause:
    """Return the direction to face at the start, by traffic or a crossing, from the words of a match."""
    words = match[0]
    flow = re.search(r"\b(?:traffic|cars|vehicles|1 way|flow)\b(?! light| cone| sign)", words)
    against = re.search(r"against|opposite|opposing|oncoming|towards? (?:the )?(?:traffic|cars)", words)
    crossing = r"(?:INTERSECTION|LIGHT|THREEWAY|FOURWAY|MANYWAY)"
    ahead = re.search(rf"(?:\btowards?|facing|to face|face)(?: \w+){{0,3}} {crossing}", words)
    behind = re.search(
        rf"(?:away from|behind)(?: \w+){{0,4}} {crossing}|{crossing} (?:\w+ ){{0,3}}behind", words
    )
    return OrientClause(not against if flow else None, False if behind else True if ahead else None)


def count(words: str) -> int:
    """Return the last number in normalised words, at most `MOST`; 2 for "SOME" ("a few"), 1 without one."""
    numbers = _NUMBER.findall(words)
    return min(int(numbers[-1]), MOST) if numbers else 2 if "SOME" in words else 1


def _ordinal(words: str) -> int | None:
    """Return the first ordinal in words, such as 2 for "2nd", at most `MOST`; `None` without one."""
    found = _ORDINAL.search(words)
    return min(int(found[1]), MOST) if found else None


def side(word: str) -> Side:
    """Return the side that a word means: left for "left", right for any other word."""
    return "left" if word == "left" else "right"


def _relation(words: str) -> Relation:
    """Return the relation to a crossing that the first known preposition in words gives; `at` without one."""
    return next((_RELATIONS[word] for word in words.split() if word in _RELATIONS), "at")

"""From a matched phrase to its clause. The names of groups are those of the rules' patterns."""

import re
from dataclasses import replace

from virl.platform.navigators.follower.clauses import (
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
from virl.platform.navigators.follower.parts import PARTS

MOST, MOST_STEPS = 99, 12.0  # chosen: more than anybody counts
SOME_STEPS = 3.0
"""Steps in "a few steps"; measured, "a few steps after turning" is as "3 steps" on map2seq_seen/dev."""
LESS, MORE = 0.8, 1.2
"""Factors of "less than" and "more than"; measured, "less than half" is 0.4 on map2seq_seen/dev."""

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
    """Return the crossing that a phrase names, such as "the next light"."""
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
    """Return the turn of a match with the groups verb, turned, place."""
    words = match["verb"]
    return TurnClause(
        _side(match["turned"]),
        place(match["place"]) if match["place"] else None,
        slight=bool(_MILD.search(words)) or "FORK" in match[0],
        sharp=bool(_SHARP.search(words)),
        nth=_ordinal(words),
        soon=bool(match.groupdict().get("soon")),
        quick=bool(_QUICK.search(match[0].removesuffix(match["place"] or ""))),
    )


def fork(match: re.Match[str]) -> TurnClause:
    """Return the slight turn at a fork of a match with the groups verb, turned, place; or to."""
    return TurnClause(_side(match["turned"] or match["to"]), NamedCrossing("fork"), slight=True)


def ramp(match: re.Match[str]) -> TurnClause:
    """Return the slight turn onto a ramp, to the right where nothing else is said. Groups: turned."""
    return TurnClause(_side(match["turned"] or "right"), slight=True)


def turns(match: re.Match[str]) -> TurnClause:
    """Return several turns the same way. Groups: verb, turned, place, number."""
    return replace(turn(match), nth=None, times=count(match["number"]))


def look_or_turn(match: re.Match[str]) -> TurnClause:
    """Return a turn that may only mean to look. Groups: verb, turned, place."""
    return replace(turn(match), looks=True)


def read_passing(match: re.Match[str]) -> PassClause:
    """Return the crossings that are passed. Groups: place, twice."""
    words = match["place"]
    if words in ("it", "this", "that"):
        return PassClause(
            1,
            NamedCrossing("intersection", earlier=True),
            thing="through" not in match[0] and "cross" not in match[0],
        )
    return PassClause(max(count(words), 2 if match["twice"] else 1), place(words), vague="SOME" in words)


def passing_again(match: re.Match[str]) -> PassClause:
    """Return crossings passed that may be the one just passed. Groups: place, twice."""
    return replace(read_passing(match), again=True)


def passing_then(match: re.Match[str]) -> PassClause:
    """Return crossings passed after what the text says first. Groups: place, twice."""
    return replace(read_passing(match), then=True)


def reach(match: re.Match[str]) -> ReachClause:
    """Return the place that is come to. Groups: before, place."""
    return ReachClause(place(match["place"]), before=bool(match["before"]))


def read_reached(match: re.Match[str]) -> ReachClause:
    """Return a place that may be passed already. Groups: place."""
    return ReachClause(place(match["place"]), told=True)


def place_clause(match: re.Match[str]) -> WhereClause:
    """Return the place of something along the street. Groups: relation, place."""
    return WhereClause(_relation(match["relation"]), place(match["place"]) if match["place"] else None)


def steps(match: re.Match[str]) -> WhereClause | LandmarkClause:
    """Return the place so many steps on, or a landmark. Groups: number, turned, relation, place, thing."""
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
    """Return the place at a fraction of the block. Groups: hedge, part, place."""
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
    """Return the direction to face at the start, from the whole match."""
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
    """Return the last number in words; 2 for "a few", 1 if there is none."""
    numbers = _NUMBER.findall(words)
    return min(int(numbers[-1]), MOST) if numbers else 2 if "SOME" in words else 1


def _ordinal(words: str) -> int | None:
    """Return the first ordinal in words, such as 2 for "2nd", at most `MOST`; `None` without one."""
    found = _ORDINAL.search(words)
    return min(int(found[1]), MOST) if found else None


def _side(word: str) -> Side:
    """Return the side that a word means: left for "left", else right."""
    return "left" if word == "left" else "right"


def _relation(words: str) -> Relation:
    """Return the relation that the first preposition known gives, `at` without one."""
    return next((_RELATIONS[word] for word in words.split() if word in _RELATIONS), "at")

"""The rules of a search by sight: what a task and its wishes tell of the goal, and which way comes first."""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache

from pydantic import BaseModel, Field, ValidationInfo, field_validator

from virl import resources
from virl.errors import BadInput, MindFailed
from virl.mind.lexicon import Lexicon, found_in
from virl.mind.replies import Reply, name_list
from virl.mind.wishes import kinds_wanted, words_for_kinds
from virl.platform.city.place_types import by_type, table_file
from virl.platform.city.places import (
    Moment,
    OpeningHours,
    moment_in,
    moment_in_words,
    open_then,
    parse_hours,
    told_moment,
)
from virl.platform.navigators.intention.rules import RoadChoice
from virl.settings.model import Settings, load_settings


class NeedPhrases(Settings):
    """Phrases for a need, with the place types that serve the need, the best first."""

    phrases: tuple[str, ...]
    kinds: tuple[str, ...]


class ConditionPhrases(Settings):
    """Phrases for a condition, with the place types that the condition excludes."""

    about: str
    """Description of the condition in a few words."""
    phrases: tuple[str, ...]
    refuses: frozenset[str] = frozenset()
    """Place types that the condition excludes."""
    unseen: str = ""
    """Part of the condition that no sign shows; empty if place types say all."""


class WishPhrases(Settings):
    """The phrases of `platform/rules/sight.yaml` for needs and conditions."""

    needs: tuple[NeedPhrases, ...]
    conditions: tuple[ConditionPhrases, ...]


def _kinds_that_serve(
    wish: str, offered: Sequence[str], lexicon: Lexicon, moment: Moment | None = None
) -> list[str]:
    """Return the offered place types that serve a wish, the best first; empty if the rules see none.

    Types that are usually closed at the moment of the wish are left out, unless all are; without a `moment`
    it is the one in the text ("It is Sunday at 21:30.").
    """
    phrases = _load_wish_phrases()
    refused = {kind for one in phrases.conditions if found_in(wish, one.phrases) for kind in one.refuses}
    kinds = dict.fromkeys(_served_types(wish, tuple(offered), lexicon, phrases))
    serve = [kind for kind in kinds if kind in offered and kind not in refused]
    closed = _closed_types(moment or moment_in(wish))
    return [kind for kind in serve if kind not in closed] or serve


def explain_conditions(wish: str, lexicon: Lexicon, moment: Moment | None = None) -> str:
    """Explain in a sentence which place types a wish's conditions exclude; empty if it has none.

    Args:
        wish: in English.
        lexicon: tells the place types that the wish would mean without its conditions.
        moment: day and minute of the wish; `None` takes those in the text.
    """
    phrases = _load_wish_phrases()
    served = set(_served_types(wish, tuple(lexicon.kinds), lexicon, phrases))
    held = [one for one in phrases.conditions if found_in(wish, one.phrases)]
    parts = [
        one.about + _excluded_words(one.refuses & served) + (f" ({one.unseen})" if one.unseen else "")
        for one in held
    ]
    left = served - {kind for one in held for kind in one.refuses}
    moment = moment or moment_in(wish)
    if moment and (closed := _closed_types(moment) & left):
        many = ", when all that serve are" if closed == left else f"{_excluded_words(closed)} as"
        parts.append(f"{moment_in_words(*moment)}{many} usually closed")
    return f"Conditions: {'; '.join(parts)}." if parts else ""


def _excluded_words(kinds: Set[str]) -> str:
    """Return a clause that names the place types which a condition leaves out; empty without any."""
    named = sorted(kind.replace("_", " ") for kind in kinds)
    return f", which leaves out {', '.join(named)}" if named else ""


def _closed_types(moment: Moment | None) -> frozenset[str]:
    """Return the place types usually closed at a (weekday, minute of the day); none without a moment."""
    if moment is None:
        return frozenset()
    return frozenset(kind for kind, hours in usual_hours().items() if not open_then(hours, *moment))


def _served_types(
    wish: str, offered: tuple[str, ...], lexicon: Lexicon, phrases: WishPhrases
) -> Iterator[str]:
    """Yield the place types that serve a wish, the best first, perhaps repeated."""
    for need in phrases.needs:
        if found_in(wish, need.phrases):
            yield from need.kinds
    yield from kinds_wanted(wish, offered, lexicon)


@cache
def usual_hours() -> Mapping[str, tuple[OpeningHours, ...]]:
    """Return weekly opening hours by place type; empty for types that differ by town or never close.

    Raises:
        BadInput: a row of the table of place types has other text than a weekly pattern.
    """
    return {kind: read_usual_hours(kind, pattern) for kind, pattern in by_type("open").items()}


def read_usual_hours(kind: str, pattern: str) -> tuple[OpeningHours, ...]:
    """Return the weekly opening hours that a pattern such as "mon-fri 9:00-18:00" gives for a place type.

    Raises:
        BadInput: the text is no weekly pattern; the message names the table and the type.
    """
    try:
        return parse_hours(pattern)
    except ValueError as fault:
        wanted = "should be like 'mon-fri 9:00-18:00, sat 9:00-13:00'"
        raise BadInput(f"{table_file()}, {kind}: open: {wanted}, not {pattern!r}") from fault


@cache
def _load_wish_phrases() -> WishPhrases:
    """Return the phrases for needs and conditions that come with virl, in `sight.yaml`."""
    return load_settings(resources.data_folder("platform/rules") / "sight.yaml", WishPhrases)


STRAIGHT_BACK_DEG = 180.0
"""Turn in degrees that costs as much as one junction more on the way.

Chosen among 0, 0.5, 1 and 2 junctions by walks through the graph of Virlbury, in which anything above 0
found the same, and 0 less."""
STREET_JUNCTIONS, JUNCTION_NUMBERS = 12.0, 15.0
"""(junctions that a sign to goal or street takes off a way's cost, house numbers that cost a junction).
Chosen: a stretch of street between two junctions has some 15."""
JUNCTION_M = 70.0
"""Distance in metres on a signpost that costs as much as one junction. Chosen: a stretch of street."""
CENTRE_JUNCTIONS = 0.5
"""Junctions by which a signpost to the town's middle lowers a way's cost. Chosen: a turn by 90 degrees."""
KNOWN_JUNCTIONS = 0.5
"""Cost, in junctions, added to a way for each visited junction near where it leads.
Chosen among 0, 0.2, 0.5, 1 and 2 by 120 walks in Virlham with signposts by the truth: 105, 106, 112, 111
and 109 found their landmarks."""
BOARD_JUNCTIONS, MOST_BOARDS, TOWN_JUNCTIONS = 0.02, 4, 0.01
"""(junctions that a shop board takes off a way's cost, most boards counted, junctions for a view all houses).
Chosen: in all less than a turn by 18 degrees, so that they decide between ways as near."""
MOST_KINDS = 4
"""Largest number of place types that a wish may mean. Chosen."""
QUOTED = re.compile(r'["\u201c]([^"\u201c\u201d]+)["\u201d]')
_BESIDE = re.compile(r"\b(?:next to|beside|between|neighbou?rs?)\b", re.IGNORECASE)


class Sought(Reply):
    """The thing that somebody looks for, as signs would show it."""

    name: str = Field(description="The name of the place as its sign would show it; empty if none is told.")
    kinds: tuple[str, ...] = Field(
        max_length=8,
        description="Place types offered, one of which the place has; for a wish, those that serve it.",
    )
    beside: tuple[str, ...] = Field(
        max_length=4, description="Place types offered of what stands right beside it, as far as it is told."
    )

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:
        """Return the values that each field of a reply to this question may have, by field."""
        kinds = name_list(inputs, "kinds")
        return {"kinds": kinds, "beside": kinds}

    @field_validator("kinds", "beside")
    @classmethod
    def _are_offered(cls, kinds: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        """Refuse place types that were not offered."""
        offered = (info.context or {}).get("kinds")
        if offered is not None and (unknown := sorted(set(kinds) - set(offered))):
            raise ValueError(f"not among the place types offered: {', '.join(unknown)}")
        return kinds


class VerbalizedChoice(RoadChoice):
    """The way to take, after it was put into words (AgentNav, arXiv 2512.15933)."""

    goal_is: str = Field(description="Where in the city the goal lies, as far as you can tell.")
    here_is: str = Field(description="Where in the city you are now, as far as you can tell.")
    way_there: str = Field(description="The way from here to the goal in words: streets and directions.")
    remember: str = Field(
        description="What to know at the next junctions, in at most 80 words; replaces what you remembered."
    )


class GoalQuestion(BaseModel):
    """The inputs of the prompt `movement/sight-goal`."""

    task: str
    kinds: tuple[str, ...]
    moment: Moment | None = None
    """Day and minute of the search, where known beside the task; else `None`."""


class DescribedWay(BaseModel):
    """A way that was seen and not taken yet, in words and numbers."""

    index: int
    description: str
    junctions: int = 0
    turn: float = 0.0
    names_street: bool = False
    """True if a sign down this way names the street in the goal's address."""
    numbers_away: int | None = None
    """House numbers between the goal's and those on the street's sign, 0 within; `None` if unknown."""
    pointed_m: int | None = None
    """Metres to a place that may be the goal, by a signpost down this way; `None` without one."""
    known_ahead: int = 0
    """Number of visited junctions that stand near to where this way leads."""
    to_centre: bool = False
    """True if a signpost points down this way to the middle of the town."""
    boards: int = 0
    """Number of shop boards in sight down this way, with those too small to read."""
    town: float = 0.0
    """Share of houses less that of green in the view down this way, [-1, 1]; 0 where nobody looked."""


class WayQuestion(BaseModel):
    """Inputs of the prompts that ask for the next way."""

    task: str
    roads: tuple[DescribedWay, ...]


def understand(question: GoalQuestion, lexicon: Lexicon) -> Sought:
    """Return what a task looks for: a quoted name, or else place types by its words, with neighbours.

    Raises:
        MindFailed: there is neither.
    """
    if name := quoted_name(question.task):
        return Sought(name=name, kinds=(), beside=())
    own, *others = _BESIDE.split(question.task, maxsplit=1)
    offered = _kinds_that_serve(own, question.kinds, lexicon, question.moment)[:MOST_KINDS]
    if not offered:
        raise MindFailed(
            "the rules find no place in the task: put its name in quotation marks, or name its kind"
        )
    if not others:
        return Sought(name="", kinds=tuple(offered), beside=())
    beside = [kind for kind in kinds_wanted(others[0], question.kinds, lexicon) if kind in question.kinds]
    return Sought(name="", kinds=tuple(offered[:1]), beside=tuple(beside[:2]))


def words_of_goal(task: str, sought: Sought, lexicon: Lexicon) -> Iterator[str]:
    """Yield the words of a task on which the rules act, as `understand` reads the task.

    Args:
        task: text as the user wrote it.
        sought: goal that `understand` returned for it.
        lexicon: tells the place types that words stand for.
    """
    if sought.name:
        yield sought.name
        return
    own, *others = _BESIDE.split(task, maxsplit=1)
    yield from words_for_kinds(own, sought.kinds, lexicon)
    phrases = _load_wish_phrases()
    for need in phrases.needs:
        yield from found_in(task, need.phrases)
    for condition in phrases.conditions:
        if not condition.unseen:
            yield from found_in(task, condition.phrases)
    if others:
        yield from words_for_kinds(others[0], sought.beside, lexicon)
    if moment := moment_in(task):
        yield told_moment(*moment)


def quoted_name(task: str) -> str:
    """Return the name in quotation marks in a task; empty without one."""
    quoted = QUOTED.search(task)
    return quoted[1].strip() if quoted else ""


def choose_way(question: WayQuestion, lexicon: Lexicon) -> RoadChoice:  # noqa: ARG001 - of every rule
    """Return the choice of the way that costs least, by junctions before it, turn and signs down it.

    A sign that names the goal's street makes up for `STREET_JUNCTIONS`, more if its house numbers are near.
    So does a signpost, more if the goal is near. One to the middle of the town makes up for a turn. In a city
    with signposts, a way that leads away from what was visited is worth some junctions. Of ways that are as
    near, boards of shops decide, also those too small to read, then houses.

    Raises:
        MindFailed: there is no way.
    """
    if not question.roads:
        raise MindFailed("no way to choose from: a junction needs at least one")
    best = min(question.roads, key=cost)
    if best.pointed_m is not None:
        return RoadChoice(index=best.index, reason="A signpost there points to what the task may mean.")
    if best.names_street:
        return RoadChoice(index=best.index, reason="A sign there names the street of the task.")
    return RoadChoice(index=best.index, reason="It is the nearest way not taken yet, with the least turn.")


def cost(road: DescribedWay) -> float:
    """Return the cost of a way, in junctions, lowered by signs down it; the least cost is chosen."""
    near = road.junctions + road.turn / STRAIGHT_BACK_DEG + KNOWN_JUNCTIONS * road.known_ahead
    if road.names_street:
        near += (road.numbers_away or 0) / JUNCTION_NUMBERS - STREET_JUNCTIONS
    if road.pointed_m is not None:
        near += road.pointed_m / JUNCTION_M - STREET_JUNCTIONS
    near -= BOARD_JUNCTIONS * min(road.boards, MOST_BOARDS) + TOWN_JUNCTIONS * road.town
    return near - CENTRE_JUNCTIONS * road.to_centre


def choose_and_tell(question: WayQuestion, lexicon: Lexicon) -> VerbalizedChoice:
    """Choose a way as `choose_way` does, and add the words that a model would write.

    Raises:
        MindFailed: there is no way.
    """
    unknown = dict.fromkeys(("goal_is", "here_is", "way_there"), "not known to the rules")
    chosen = choose_way(question, lexicon).model_dump()
    return VerbalizedChoice.model_validate(chosen | unknown | {"remember": ""})

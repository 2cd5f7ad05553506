"""The goal in an intention, as the rules over tools read it: what is sought, the conditions, what to tell."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from virl import resources
from virl.agent.character import Character
from virl.errors import BadInput
from virl.mind.lexicon import Lexicon, load_lexicon, phrase_pattern, stretches_in, words_of
from virl.mind.sentences import asked_for
from virl.mind.wishes import Mention, kinds_wanted, wishes, wishes_in, words_for_kinds
from virl.platform.city.locate import NUMBER_FIRST, address_in
from virl.settings.model import Settings, load_settings

Seeking = Literal["place", "thing", "view", "count", "signs"]
"""Kind of a goal: find a place or a thing, choose a view, count, or read signs."""

CHEAP, MODERATE = 1, 2
"""Google's price levels for inexpensive (1) and moderate (2)."""
UNDERSTOOD = (
    "find a place of some kind or name (open now, well liked, nearest, not too dear, quiet ...), "
    "go to an address, find or count things on the street, read the signs in sight, take a picture"
)

_NAME = re.compile(
    r"(?<![.!?:] )(?<!^)(?<![\w'&])(?:the )?([A-Z][\w'&]*(?: (?:of|the|and|&|[A-Z][\w'&]*))* [A-Z][\w']*)"
)
_QUOTED = re.compile(
    '["\N{LEFT DOUBLE QUOTATION MARK}]([^"\N{RIGHT DOUBLE QUOTATION MARK}]{3,60})'
    '["\N{RIGHT DOUBLE QUOTATION MARK}]'
)


class ToolWords(Settings):
    """Phrases of intentions by meaning, from `platform/rules/tools.yaml`."""

    view: tuple[str, ...]
    count: tuple[str, ...]
    ask_others: tuple[str, ...]
    go_there: tuple[str, ...]
    route: tuple[str, ...]
    open_now: tuple[str, ...]
    liked: tuple[str, ...]
    nearest: tuple[str, ...]
    inexpensive: tuple[str, ...]
    read_signs: tuple[str, ...]
    """Phrases of a wish to learn what signs say."""
    cheap: tuple[str, ...]
    sign: tuple[str, ...]
    see: tuple[str, ...]
    several: tuple[str, ...]
    corner: tuple[str, ...]
    unwanted: tuple[str, ...]
    """Phrases that mark a sentence as telling what somebody dislikes."""
    pictures: tuple[str, ...]
    """Phrases, such as "look around", that ask for what every plan for a picture does anyway."""
    in_sight: tuple[str, ...]
    """Phrases, such as "in sight" or "nearby", for the area in which things are counted."""
    search: tuple[str, ...]
    """Phrases, such as "hours" or "reviews", that ask for what every search for a place tells anyway."""
    things: dict[str, tuple[str, ...]]
    """Phrases for each thing, by its name in detectors."""
    helpers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToolGoal:
    """The goal in an intention: what is sought, the conditions, and what to do or report besides."""

    seeking: Seeking
    place_type: str = ""
    """Place type that is sought; empty if none is named."""
    name: str = ""
    """Name of the place that is sought; empty without one."""
    address: str = ""
    things: tuple[str, ...] = ()
    """Things on the street to find, count, report, or have in a picture."""
    open_now: bool = False
    liked: bool = False
    nearest: bool = False
    max_price: int | None = None
    """Highest price level that suits, 0 to 4; `None` for any."""
    several: bool = False
    corner: bool = False
    """True if the picture is to show a street corner."""
    wishes: tuple[Mention, ...] = ()
    """Wished or refused attributes of the place, such as `quiet`; prices are in `max_price`."""
    ask_others: bool = False
    go_there: bool = False
    route: bool = False
    sign: bool = False

    @property
    def wanted_words(self) -> str:
        """Words for the thing or place that is sought, such as its type or name."""
        if self.seeking == "view":
            return "street corner worth a picture" if self.corner else "view worth a picture"
        things = ", ".join(self.things)
        place = self.name or self.address or words_of(self.place_type)
        return ((things or place) if self.seeking == "thing" else (place or things)) or "signs"


@cache
def tool_words() -> ToolWords:
    """Return the phrases of intentions that come with virl.

    Raises:
        BadInput: it is broken; names line and field.
    """
    return load_settings(resources.data_folder("platform/rules") / "tools.yaml", ToolWords)


def seeks_view(character: Character) -> bool:
    """Return whether an intention, understood by rules or not, asks for a picture."""
    return bool(phrase_pattern(tool_words().view).search(words_of(asked_for(character.intention))))


def read_goal(character: Character, lexicon: Lexicon | None = None) -> ToolGoal:
    """Return the goal of a character's intention; the lexicon is that of English if `None`.

    Raises:
        BadInput: the rules do not understand it; says which kinds of intentions they do.
    """
    lexicon, words = lexicon or load_lexicon(), tool_words()
    text = asked_for(character.intention)
    said = words_of(text)

    def says(phrases: Iterable[str]) -> bool:
        """Return whether the intention contains one of the phrases."""
        return bool(phrase_pattern(tuple(phrases)).search(said))

    named = name_in(text, character.name)
    address = address_in(text)
    of_the_street = tuple(phrase for phrases in words.things.values() for phrase in phrases)
    kinds = kinds_wanted(text, (), lexicon, aside=of_the_street)
    things = tuple(name for name, phrases in words.things.items() if says(phrases))
    place = bool(kinds or named or address)
    possible: dict[Seeking, bool] = {
        "view": says(words.view),
        "signs": says(words.read_signs) and not (named or address),
        "count": says(words.count) and (bool(things) or place),
        "place": place,
        "thing": bool(things) and says(words.see),
    }
    # An intention may mention several; the earlier kind is what the others serve.
    seeking = next((kind for kind, is_meant in possible.items() if is_meant), None)
    if seeking is None:
        raise BadInput(
            f"the rules do not understand the intention of {character.name}: they understand English "
            f"intentions of these kinds: {UNDERSTOOD}; for others give --mind openai:MODEL"
        )
    if seeking == "view":
        things = _liked_things(f"{text} {character.background}", words)
    wished = wishes(text, lexicon)
    # Prices are held against listed levels, not against what reviews say.
    cheap = wished.pop("cheap", None)
    max_price = None
    if says(words.inexpensive) or (cheap and cheap.holds):
        max_price = CHEAP if says(words.cheap) and not says(words.inexpensive) else MODERATE
    return ToolGoal(
        seeking,
        place_type=kinds[0] if kinds and seeking in ("place", "count") else "",
        name=named,
        address=address,
        things=things,
        open_now=says(words.open_now),
        liked=says(words.liked),
        nearest=says(words.nearest),
        max_price=max_price,
        several=says(words.several),
        corner=says(words.corner),
        wishes=tuple(wished.values()),
        ask_others=says(words.ask_others),
        go_there=says(words.go_there),
        route=says(words.route),
        sign=says(words.sign),
    )


_BACK = ("and back", "come|comes|go|goes|walk|walks back", "return|returns")
UNFULFILLED: dict[Seeking, tuple[str, ...]] = {
    "place": ("all", "every", "each", "both", "in the|his|her|their way", *_BACK),
    "count": ("on|along the way", "along", "street", "streets", "until", "while"),
    "thing": ("all", "every", "each", "both", "on the way"),
    "view": ("each", "every", "all", "both"),
    "signs": ("along", "on the way", "street", "streets", "until", "while"),
}
"""Phrases, by kind of goal, that ask for more than its plan does, as "every" where one place is sought."""


def words_of_goal(character: Character, goal: ToolGoal, lexicon: Lexicon) -> Iterator[str]:
    """Yield the words of an intention on which the goal's plan acts, given the character's tools.

    Args:
        character: gives the intention and the tools.
        goal: goal that was read from the intention.
        lexicon: phrases for place types and attributes.
    """
    words, tools, text = tool_words(), set(character.tools), asked_for(character.intention)
    of_the_street = tuple(phrase for phrases in words.things.values() for phrase in phrases)
    moves = {"move", "route"} <= tools
    acted_on: dict[Seeking, dict[tuple[str, ...], bool]] = {
        "view": {
            words.view: True,
            words.corner: True,
            words.pictures: True,
            of_the_street: "detect" in tools,
        },
        "count": {words.count: True, words.in_sight: True, of_the_street: bool(goal.things)},
        "signs": {words.read_signs: True, words.in_sight: True},
        "thing": {words.see: True, words.sign: True, of_the_street: True, words.go_there: True},
        "place": {
            words.open_now: "place_details" in tools or not goal.open_now,
            words.liked: True,
            words.nearest: True,
            (*words.inexpensive, *words.cheap): True,
            words.ask_others: "consult" in tools,
            words.go_there: moves,
            words.route: "route" in tools,
            words.sign: bool({"read_signs", "look", "detect"} & tools),
            (*words.see, *words.search): True,
            of_the_street: "detect" in tools and moves,
        },
    }
    for phrases, is_done in acted_on[goal.seeking].items():
        if is_done:
            yield from stretches_in(text, phrases)
    if goal.seeking == "place":
        yield from filter(None, (goal.name, goal.address))
        if "place_details" in tools:
            wished = wishes_in(text, lexicon)
            yield from (one.stretch for one in wished if one.holds or one.attribute != "cheap")
    if goal.place_type and not (goal.seeking == "count" and goal.things):
        yield from words_for_kinds(text, [goal.place_type], lexicon, aside=of_the_street)


def name_in(text: str, own: str) -> str:
    """Return a text's quoted name, else its first capitalized name but the agent's `own`; empty if none."""
    if quoted := _QUOTED.search(text):
        return quoted[1]
    for found in _NAME.finditer(text):
        name = found[1]
        if (
            not NUMBER_FIRST.search(text[max(0, found.start() - 6) : found.end()])
            and own.split(maxsplit=1)[0] not in name.split()
        ):
            return name
    return ""


def _liked_things(text: str, words: ToolWords) -> tuple[str, ...]:
    """Return the things on the street that a text names, except in sentences of dislike."""
    said = [words_of(sentence) for sentence in re.split(r"[.!?;]", text)]
    liked = [one for one in said if not phrase_pattern(words.unwanted).search(one)]
    return tuple(
        name
        for name, phrases in words.things.items()
        if any(phrase_pattern(phrases).search(one) for one in liked)
    )

"""What a wish means to the rules: the kinds of place that serve it, and those its conditions rule out."""

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache

from virl import resources
from virl.clock import show_clock
from virl.errors import BadInput
from virl.mind.kinds import kinds_wanted
from virl.mind.lexicon import Lexicon, found_in
from virl.platform.city.place_types import by_type, table_file
from virl.platform.city.places import OpeningHours, open_then
from virl.platform.city.weekly_hours import NAMES, Moment, moment_in, parse_hours
from virl.settings.model import Settings, load_settings


class NeedPhrases(Settings):
    """Phrases that express a need, with the place types that serve it, the best first."""

    phrases: tuple[str, ...]
    kinds: tuple[str, ...]


class ConditionPhrases(Settings):
    """Phrases that express a condition, with the place types that it excludes."""

    about: str
    """The condition in a few words."""
    phrases: tuple[str, ...]
    refuses: frozenset[str] = frozenset()
    """Place types that the condition excludes."""
    unseen: str = ""
    """The part of the condition that signs do not tell; empty if its types say all."""


class WishPhrases(Settings):
    """`platform/rules/sight.yaml`."""

    needs: tuple[NeedPhrases, ...]
    conditions: tuple[ConditionPhrases, ...]


def kinds_that_serve(
    wish: str, offered: Sequence[str], lexicon: Lexicon, moment: Moment | None = None
) -> list[str]:
    """Return the place types that serve a wish, the best first; empty if the rules see none.

    Types that are usually closed at the time of the wish are left out, unless all are.

    Args:
        wish: in English.
        offered: types to choose from.
        lexicon: what words say of kinds of place.
        moment: the time of the wish; `None` takes what the wish itself tells ("It is Sunday at 21:30.").
    """
    phrases = load_wish_phrases()
    refused = {kind for one in phrases.conditions if found_in(wish, one.phrases) for kind in one.refuses}
    kinds = dict.fromkeys(_served_types(wish, tuple(offered), lexicon, phrases))
    serve = [kind for kind in kinds if kind in offered and kind not in refused]
    closed = _closed_types(moment or moment_in(wish))
    return [kind for kind in serve if kind not in closed] or serve


def explain_conditions(wish: str, lexicon: Lexicon, moment: Moment | None = None) -> str:
    """Explain what the rules leave out under the conditions of a wish; empty if it has none.

    Args:
        wish: in English.
        lexicon: knows the types that the wish would mean without its conditions.
        moment: as for `kinds_that_serve`.
    """
    phrases = load_wish_phrases()
    served = set(_served_types(wish, tuple(lexicon.kinds), lexicon, phrases))
    held = [one for one in phrases.conditions if found_in(wish, one.phrases)]
    parts = [
        one.about + _excluded_words(one.refuses & served) + (f" ({one.unseen})" if one.unseen else "")
        for one in held
    ]
    left = served - {kind for one in held for kind in one.refuses}
    moment = moment or moment_in(wish)
    if moment and (closed := _closed_types(moment) & left):
        day, minute = moment
        parts.append(
            f"{NAMES[day]} at {show_clock(minute)}, when all that serve are usually closed"
            if closed == left
            else f"{NAMES[day]} at {show_clock(minute)}{_excluded_words(closed)} as usually closed"
        )
    return f"Conditions: {'; '.join(parts)}." if parts else ""


def words_of_wish(wish: str) -> Iterator[str]:
    """Yield the words of a wish that tell a need or a condition which the rules act on."""
    phrases = load_wish_phrases()
    for one in phrases.needs:
        yield from found_in(wish, one.phrases)
    for condition in phrases.conditions:
        if not condition.unseen:
            yield from found_in(wish, condition.phrases)


def _excluded_words(kinds: Set[str]) -> str:
    """Return in words which place types a condition leaves out; empty without any."""
    named = sorted(kind.replace("_", " ") for kind in kinds)
    return f", which leaves out {', '.join(named)}" if named else ""


def _closed_types(moment: Moment | None) -> frozenset[str]:
    """Return the types that are usually closed at a moment; none without one."""
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
    """Return the opening hours of a place type from its weekly pattern.

    Raises:
        BadInput: it is none; names the table and the type.
    """
    try:
        return parse_hours(pattern)
    except ValueError as fault:
        wanted = "should be like 'mon-fri 9:00-18:00, sat 9:00-13:00'"
        raise BadInput(f"{table_file()}, {kind}: open: {wanted}, not {pattern!r}") from fault


@cache
def load_wish_phrases() -> WishPhrases:
    """Return the phrases that come with virl.

    Raises:
        BadInput: the file is broken; names file, line and field.
    """
    return load_settings(resources.data_folder("platform/rules") / "sight.yaml", WishPhrases)

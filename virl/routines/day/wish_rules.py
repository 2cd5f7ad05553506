"""The rules for what a client says: likes, feelings, and changes to a proposed day, clause by clause.

The pastimes that can be liked are in `platform/rules/day.yaml` and in the table of place types.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Literal

from pydantic import Field
from rapidfuzz import fuzz

from virl import resources
from virl.clock import parse_clock, show_clock
from virl.mind.lexicon import GAP, Lexicon, found_in, phrase_pattern, words_of
from virl.mind.sentences import asked_for
from virl.platform.city.place_types import Words, by_type_as, types_marked
from virl.routines.day.replies import Amendment, Amendments, AmendQuestion, Clock, NumberedActivity, Told
from virl.settings.model import Settings, load_settings

Feeling = Literal["stress", "joy", "sadness", "hunger", "energy", "pain"]
"""Name of a feeling of mind or body."""
Points = dict[Feeling, float]
"""Signed points by feeling, on scales from 0 to 100."""
MOST_WORDS = 3  # of one pastime that count in a clause; chosen
_IN_ANY_DAY = (
    *("walk*", "stroll*", "on foot"),
    *("food", "eat*", "meal*", "breakfast", "lunch", "dinner", "cafe*", "coffee*", "restaurant*"),
)
"""Phrases for walks and meals, which are in any planned day, so that refusals of them are not acted on."""
_CLAUSE_ENDS = re.compile(
    r"[.,;:!?\n()]+|\b(?:but|and then|however|although|though)\b|\b(?=(?:without|instead of|rather than) \w)"
    r"|\band (?=(?:no|not|never|without|with|wants?|needs?|likes?|loves?|enjoys?|hates?|dislikes?|avoids?)\b)"
)
ALIKE = 90.0  # of 100: least likeness of a name in a clause; chosen
MOST_CHANGES = 10
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")

_CLAUSES = re.compile(
    r"[;\n!?]+|\.(?=\s|$)|,\s*(?:and|but|then)\s+|(?<!\s)\s+(?:and|but) (?=(?:drop|skip|move|no)\b)"
)
_TIME = r"(?:\d{1,2}[:.h]\d{2}(?:\s?[ap]m)?|\d{1,2}\s?[ap]m|noon)"
_SPAN = re.compile(
    rf"(?:from |at |to )?({_TIME})\s*(?:-|\N{{EN DASH}}|to|until|till)\s*({_TIME})", re.IGNORECASE
)
_UNTIL = re.compile(rf"\b(?:until|till|by|ends? at)\s+({_TIME})", re.IGNORECASE)
_AT = re.compile(rf"(?:\b(?:at|from|to|start(?:s|ing)?)\s+)?({_TIME})", re.IGNORECASE)
_FOR = re.compile(r"\bfor (\d{1,3}|an?|half an) (hours?|minutes?)\b", re.IGNORECASE)
_MONEY = re.compile(
    r"\$\s?(\d{1,9}(?:\.\d{1,9})?)|(?<![\d.])(\d{1,9}(?:\.\d{1,9})?)\s{0,9}(?:dollars?|usd|bucks|\$)"
    r"|\bbudget\D{0,20}?(\d{1,9}(?:\.\d{1,9})?)",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?:#|\bno\. ?|\bnumber |\bactivity |\bstop |\bentry )(\d{1,2})\b|^\s*(\d{1,2})\b(?=\s*[:),]|\s|$)"
    r"|\b(?:drop|skip|remove|cancel|change|move|replace|swap|shift|start|begin|end|make|no|without|of)\s+(\d{1,2})\b",
    re.IGNORECASE,
)
_DROP = re.compile(
    r"\b(?:drop|skip|remove|cancel|leave out|without|no|not|don't want|do not want)\b", re.IGNORECASE
)
_INSTEAD = re.compile(
    r"^(?:i(?:'d| would) (?:like|rather have|prefer) )?(.+?)(?<!\s)\s+instead of\b", re.IGNORECASE
)
_PLACE = re.compile(
    r"(?:\b(?:with|for|by|into|go to|visit|to|in|at)\s+|:\s*)(?:(?:the|an?)\s+)?"
    r"([^\W\d].*?)(?:\s+instead)?\s*$",
    re.IGNORECASE,
)


def likes(text: str, lexicon: Lexicon) -> dict[str, int]:
    """Return points by pastime: above 0 if a text asks for it, below if it refuses it; others absent."""
    found: dict[str, int] = {}
    for words, denied in clauses(asked_for(text)):
        for sort in day_book().pastimes:
            count = min(len(found_in(words, _words_for(sort, lexicon))), MOST_WORDS)
            if count:
                found[sort] = found.get(sort, 0) + (-MOST_WORDS if denied else count)
    return found


def listen(said: str, state: Mapping[str, float], lexicon: Lexicon) -> Told:
    """Return the feelings that a client's words tell, and the words as a wish if about pastimes or thrift.

    Args:
        said: by the client.
        state: feelings so far.
        lexicon: of the language.
    """
    values: dict[str, float] = {}
    for words, _ in clauses(said):
        for told in day_book().feelings:
            if found := phrase_pattern(told.words).search(words):
                by = -told.by if _denies(words[: found.start()]) else told.by
                before = values.get(told.feeling, state[told.feeling])
                values[told.feeling] = min(max(before + by, 0.0), 100.0)
    feelings = {name: round(values[name]) if name in values else None for name in state}
    wishes = (" ".join(said.split()),) if likes(said, lexicon) or is_thrifty(said) else ()
    return Told.model_validate(feelings | {"wishes": wishes})


def amend(question: AmendQuestion, lexicon: Lexicon) -> Amendments:  # noqa: ARG001 - as every rule
    """Return the changes that a client's words ask for; clauses on no activity of the day become wishes."""
    changes: dict[int, Amendment] = {}
    wishes: list[str] = []
    budget: float | None = None
    for clause in filter(None, (part.strip(" ,.") for part in _CLAUSES.split(question.said))):
        money = _MONEY.search(clause)
        target = None if money else _meant_activity(clause, question.activities)
        if money:
            budget = float(next(filter(None, money.groups())))
        elif target:
            starts, ends, rest = _split_times(clause, target)
            place = _asked_place(rest)
            is_dropped = bool(_DROP.search(clause)) and not (starts or ends or place)
            changes[target.number] = Amendment(
                number=target.number, drop=is_dropped, place=place, what="", starts=starts, ends=ends
            )
        else:
            wishes.append(clause)
    return Amendments(
        changes=tuple(changes.values())[:MOST_CHANGES], budget_usd=budget, wishes=tuple(wishes)[:MOST_CHANGES]
    )


class Pastime(Settings):
    """A pastime at one place type, with its usual length, hours, cost and effects on feelings."""

    what: str = Field(min_length=1)
    minutes: int = Field(gt=0)
    usual: tuple[Clock, Clock]
    """Times of day (start, end) between which towns usually offer the pastime."""
    usd: float = Field(ge=0)
    """Usual cost in US dollars."""
    feelings: Points
    """Changes of feelings in one hour, in points."""
    words: Words
    """Phrases of people who like the pastime, in addition to the lexicon's phrases for its place type."""
    active: bool = False
    """True if the pastime asks for strength."""

    @property
    def span(self) -> tuple[int, int]:
        """The usual hours as (start, end), in minutes after midnight."""
        return parse_clock(self.usual[0]), parse_clock(self.usual[1])


class FeelingWords(Settings):
    """Phrases that express a feeling, with the points by which they change it."""

    feeling: Feeling
    by: float
    """Change of the feeling in points by these phrases; reversed where they are denied."""
    words: tuple[str, ...]


class DayBook(Settings):
    """Tables of pastimes, effects and phrases by which the rules plan days."""

    hourly: Points
    """Changes of feelings in every waking hour, in points."""
    rest: Points
    """Changes of feelings in an hour of rest, in points."""
    travel: dict[Literal["walking", "cycling", "driving"], Points]
    """Changes of feelings in an hour of travel, in points, by mode."""
    meal: Points
    """Changes of feelings by a whole meal, in points."""
    meal_usd: float
    snack: Points
    """Changes of feelings by a snack, in points."""
    snacks: frozenset[str] = Field(default_factory=lambda: types_marked("snack"))
    """Place types where one has a snack."""
    somewhere: Points
    """Changes of feelings in an hour at a place of unknown type, in points."""
    pastimes: dict[str, Pastime] = Field(default_factory=lambda: by_type_as("pastime", Pastime))
    """The pastimes by place type."""
    feelings: tuple[FeelingWords, ...]
    denials: tuple[str, ...]
    thrift: tuple[str, ...]
    """Phrases of people who want to spend little."""


@cache
def day_book() -> DayBook:
    """Return the tables of pastimes, effects and phrases that come with virl, read once.

    Raises:
        BadInput: it is broken; names line and field.
    """
    return load_settings(resources.data_folder("platform/rules") / "day.yaml", DayBook)


def clauses(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each clause of a text as (lower-case words, whether it refuses something)."""
    for part in _CLAUSE_ENDS.split(text.lower()):
        words = words_of(part).replace("tired of", "enough of")  # is about the thing, and no feeling
        if words:
            yield words, _denies(words)


def kinds_asked_for(text: str) -> list[str]:
    """Return the place types that a text asks for and does not refuse, each once, in order."""
    found = (
        sort
        for words, denied in clauses(asked_for(text))
        for sort in day_book().pastimes
        if not denied and found_in(words, _singular_and_plural(sort))
    )
    return list(dict.fromkeys(found))


def words_of_likes(text: str, lexicon: Lexicon) -> Iterator[str]:
    """Yield the words of a text that speak for or against pastimes, or for thrift.

    Not what no day can keep to: meals and ways on foot that are denied, and pastimes wanted and denied.
    """
    told = list(clauses(asked_for(text)))
    torn = {
        (not denied, sort)
        for words, denied in told
        for sort in day_book().pastimes
        if found_in(words, _words_for(sort, lexicon))
    }
    for words, denied in told:
        denials = [match[0] for match in phrase_pattern(day_book().denials).finditer(words)] if denied else []
        for sort in day_book().pastimes:
            for liked in found_in(words, _words_for(sort, lexicon)):
                if (denied, sort) in torn or (denied and phrase_pattern(_IN_ANY_DAY).search(liked)):
                    continue
                yield GAP.join([*denials[:1], liked])
    yield from found_in(text, day_book().thrift)


def is_thrifty(text: str) -> bool:
    """Return whether a text asks to spend little."""
    return bool(phrase_pattern(day_book().thrift).search(words_of(text)))


def _denies(words: str) -> bool:
    """Return whether words refuse something, such as by "no" or "without"."""
    return bool(phrase_pattern(day_book().denials).search(words))


def _words_for(sort: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Return the phrases that mean a pastime at a place type: from the tables, its name, and the lexicon."""
    return (*day_book().pastimes[sort].words, *_singular_and_plural(sort), *lexicon.place_types.get(sort, ()))


def _singular_and_plural(sort: str) -> tuple[str, str]:
    """Return (singular, plural) of a place type's English name."""
    name = words_of(sort)
    return name, f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"


def _meant_activity(clause: str, activities: Sequence[NumberedActivity]) -> NumberedActivity | None:
    """Return the activity that a clause means: by number, ordinal, time or name; `None` if it means none."""
    by_number = {one.number: one for one in activities}
    for found in _NUMBER.finditer(clause):
        number = int(next(filter(None, found.groups())))
        # The number of "move 9:30" or "start 9 am" is a time.
        if not re.match(rf"{_TIME}", clause[found.end() - len(str(number)) :]):
            return by_number.get(number) or NumberedActivity(
                number=number, kind="normal", starts="00:00", ends="00:01"
            )
    words = clause.lower()
    for number, ordinal in enumerate(ORDINALS, start=1):
        if re.search(rf"\b{ordinal}\b", words) and number in by_number:
            return by_number[number]
    old = words.partition(" instead of ")[2] or words
    for one in activities:
        names = filter(None, (one.place.lower(), one.what.lower(), one.sort.replace("_", " ")))
        if any(len(name) > 2 and fuzz.partial_ratio(name, old) >= ALIKE for name in names):
            return one
    return None


def _split_times(clause: str, target: NumberedActivity) -> tuple[str | None, str | None, str]:
    """Return (start, end, rest of the clause); times as HH:MM, or `None` where the clause names none."""
    starts = ends = None
    rest = clause
    if span := _SPAN.search(rest):
        starts, ends, rest = _to_clock(span[1]), _to_clock(span[2]), rest.replace(span[0], " ")
    if not ends and (until := _UNTIL.search(rest)):
        ends, rest = _to_clock(until[1]), rest.replace(until[0], " ")
    if not starts and (at := _AT.search(rest)):
        starts, rest = _to_clock(at[1]), rest.replace(at[0], " ")
    if not ends and (lasts := _FOR.search(rest)):
        begins = parse_clock(starts or target.starts)
        ends, rest = (
            show_clock(min(begins + _to_minutes(*lasts.groups()), 24 * 60)),
            rest.replace(lasts[0], " "),
        )
    return starts, ends, " ".join(rest.split())


def _to_minutes(amount: str, unit: str) -> int:
    """Return the minutes of an amount, such as "half an" or "2", of hours or minutes."""
    count = 0.5 if amount.lower() == "half an" else 1.0 if amount.lower() in {"a", "an"} else float(amount)
    return round(count * (60 if unit.lower().startswith("hour") else 1))


def _to_clock(text: str) -> str:
    """Return a time of day, such as "noon", in the form HH:MM."""
    return show_clock(12 * 60 if text.lower() == "noon" else parse_clock(text))


def _asked_place(clause: str) -> str:
    """Return the name of the place or pastime that a clause asks for; empty if it names none."""
    if found := _INSTEAD.search(clause):
        return re.sub(r"^(?:the|an?)\s+", "", found[1], flags=re.IGNORECASE)
    found = _PLACE.search(clause)
    return found[1].strip(" .") if found else ""

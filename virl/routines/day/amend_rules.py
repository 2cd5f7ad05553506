"""The rules for what a client changes in a proposed day: numbers, names and times, clause by clause."""

import re
from collections.abc import Sequence

from rapidfuzz import fuzz

from virl.clock import parse_clock, show_clock
from virl.mind.lexicon import Lexicon
from virl.routines.day.replies import Amendment, Amendments
from virl.routines.day.rule_questions import AmendQuestion, NumberedDoing

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


def amend(question: AmendQuestion, lexicon: Lexicon) -> Amendments:  # noqa: ARG001 - as every rule
    """Read the changes in a client's words; a part that names no activity and no budget is a wish."""
    changes: dict[int, Amendment] = {}
    wishes: list[str] = []
    budget: float | None = None
    for clause in filter(None, (part.strip(" ,.") for part in _CLAUSES.split(question.said))):
        money = _MONEY.search(clause)
        target = None if money else _target(clause, question.activities)
        if money:
            budget = float(next(filter(None, money.groups())))
        elif target:
            changes[target.number] = _change(clause, target)
        else:
            wishes.append(clause)
    return Amendments(
        changes=tuple(changes.values())[:MOST_CHANGES], budget_usd=budget, wishes=tuple(wishes)[:MOST_CHANGES]
    )


def _target(clause: str, activities: Sequence[NumberedDoing]) -> NumberedDoing | None:
    """Return the activity that a clause is about: by number, by ordinal, by the time it has, or by name."""
    by_number = {one.number: one for one in activities}
    for found in _NUMBER.finditer(clause):
        number = int(next(filter(None, found.groups())))
        if not re.match(rf"{_TIME}", clause[found.end() - len(str(number)) :]):
            return by_number.get(number) or NumberedDoing(
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


def _change(clause: str, target: NumberedDoing) -> Amendment:
    """Return what a clause changes of an activity: its times or place, or that it is dropped."""
    starts, ends, rest = _times(clause, target)
    place = _place(rest)
    is_dropped = bool(_DROP.search(clause)) and not (starts or ends or place)
    return Amendment(number=target.number, drop=is_dropped, place=place, what="", starts=starts, ends=ends)


def _times(clause: str, target: NumberedDoing) -> tuple[str | None, str | None, str]:
    """Return the beginning and end in a clause, and the clause without its times."""
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
    """Return the whole minutes of an amount such as "half an" or "2" and a unit."""
    count = 0.5 if amount.lower() == "half an" else 1.0 if amount.lower() in {"a", "an"} else float(amount)
    return round(count * (60 if unit.lower().startswith("hour") else 1))


def _to_clock(text: str) -> str:
    """Return a time of day, "noon" too, as HH:MM."""
    return show_clock(12 * 60 if text.lower() == "noon" else parse_clock(text))


def _place(clause: str) -> str:
    """Return the name of the place that somebody wants instead; empty if none is named."""
    if found := _INSTEAD.search(clause):
        return re.sub(r"^(?:the|an?)\s+", "", found[1], flags=re.IGNORECASE)
    found = _PLACE.search(clause)
    return found[1].strip(" .") if found else ""

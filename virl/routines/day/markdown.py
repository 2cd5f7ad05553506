"""A day as Markdown; what comes from the world cannot change the page."""

import re
from collections.abc import Mapping, Sequence

from virl.plain_text import plain_line
from virl.routines.day.activity import Activity
from virl.routines.day.settings import FEELINGS

_SPECIAL = re.compile(r"([\\`*_\[\]<>!|~&@])|(?<=www)(\.)|(:)(?=//)")
_OPENING = re.compile(r"^(?:([-+#=])|(\d+)([.)]))")


def plain(text: str) -> str:
    """Return a text that Markdown shows as it is, in one line."""
    inline = _SPECIAL.sub(lambda found: f"\\{found[0]}", " ".join(plain_line(text).split()))
    return _OPENING.sub(lambda found: f"{found[2] or ''}\\{found[1] or found[3]}", inline)


def itinerary(
    activities: Sequence[Activity],
    *,
    title: str,
    before: Mapping[str, float],
    budget_usd: float,
    notes: Sequence[str],
) -> str:
    """Return the day as a page: what to do when, what it costs, and how the client feels before and after.

    Args:
        activities: in order.
        title: of the page.
        before: feelings at the start.
        budget_usd: dollars.
        notes: lines at the end.
    """
    lines = [f"# {plain(title)}", ""]
    for one in activities:
        where = f", {plain(one.spot.name)}" if one.spot.name and not one.mode else ""
        lines.append(f"- **{one.time}** {plain(one.what)}{where}{_details(one)}")
    if not activities:
        lines.append("Nothing could be planned.")
    lines += ["", *_feelings_table(before, activities), "", _describe_spending(activities, budget_usd), ""]
    lines += [line for note in notes for line in (plain(note), "")]
    return "\n".join(lines).rstrip() + "\n"


def _details(one: Activity) -> str:
    """Return an activity's cost, address, reason and changed feelings, as Markdown."""
    cost = f" (${one.cost_usd:.2f})" if one.cost_usd else ""
    changes = ", ".join(f"{name} {by:+d}" for name, by in one.changes.items() if by)
    address = f"{plain(one.spot.address)}. " if one.spot.address and not one.mode else ""
    return f"{cost}  \n  {address}{plain(one.reason)}{f' _{plain(changes)}_' if changes else ''}"


def _feelings_table(before: Mapping[str, float], activities: Sequence[Activity]) -> list[str]:
    """Return the lines of a Markdown table of all feelings before and after the day."""
    after = activities[-1].state if activities else before
    return [
        "| | before | after |",
        "| --- | ---: | ---: |",
        *(f"| {name} | {before[name]:.0f} | {after[name]:.0f} |" for name in FEELINGS),
    ]


def _describe_spending(activities: Sequence[Activity], budget_usd: float) -> str:
    """Return a sentence on the dollars spent of the budget."""
    spent = sum(one.cost_usd for one in activities)
    return f"${spent:.2f} of ${budget_usd:.2f} are spent."

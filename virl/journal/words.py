"""What a journal holds, in words: values of JSON, names of fields and prompts, and what a view shows."""

from virl.geo.globe import compass_word
from virl.journal.records import ExchangeRecord, ViewRecord

LONGEST = 4000
"""Characters of a text that are shown; the journal has all. Chosen."""
COLUMNS = 6
"""Most fields of rows that are shown as a table. Chosen."""


def words(name: str) -> str:
    """Return a name with underscores as words."""
    return name.replace("_", " ").replace("-", " ")


def question(exchange: ExchangeRecord) -> str:
    """Return the name of an exchange's prompt for readers: `"homes/rating"` is `"Homes: rating"`."""
    return words(exchange.prompt).replace("/", ": ").capitalize()


def scalar(value: object) -> str:
    """Return a value without parts as people write it; a list of such values with commas between them."""
    if value is None or value == "":
        return "\N{EN DASH}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.7g}"
    if isinstance(value, list | tuple):
        return _cut(", ".join(map(scalar, value)) or "none")
    if isinstance(value, dict):
        return _cut(", ".join(f"{words(str(key))} {scalar(part)}" for key, part in value.items()) or "none")
    return _cut(str(value))


def is_list(value: object) -> bool:
    """Return whether a value has parts in an order."""
    return isinstance(value, list | tuple)


def is_structured(value: object) -> bool:
    """Return whether a value has parts."""
    return isinstance(value, list | tuple | dict)


def is_rows(value: object) -> bool:
    """Return whether a value is a list of rows of the same few fields, none with parts within parts."""
    if not isinstance(value, list | tuple) or not value or not all(isinstance(row, dict) for row in value):
        return False
    fields = list(value[0])
    return 0 < len(fields) <= COLUMNS and all(
        list(row) == fields and not any(map(is_structured, row.values())) for row in value
    )


def seen_in(view: ViewRecord, where: str) -> str:
    """Return a view for those who cannot see it: its direction, from where, and what was found in it.

    Args:
        view: the view.
        where: the step or note that it belongs to.
    """
    sort = {"look": "View", "closer": "Closer look", "road": "View down the road", "photo": "Photo"}
    text = sort[view.purpose]
    if view.purpose != "photo":
        text += f" to the {compass_word(view.heading)}, {view.heading:.0f}\N{DEGREE SIGN}"
    if view.purpose != "photo" and abs(view.pitch) >= 0.5:
        text += f" and {abs(view.pitch):.0f}\N{DEGREE SIGN} {'up' if view.pitch > 0 else 'down'}"
    found = [
        words(one.label) + (f" with the sign “{one.text}”" if one.text else "") for one in view.detections
    ]
    told = "; ".join(filter(None, [view.caption, f"found: {', '.join(found)}" if found else ""]))
    return f"{text}, at {where}" + (f": {told}" if told else "")


def _cut(text: str) -> str:
    left = len(text) - LONGEST
    return text if left <= 0 else f"{text[:LONGEST]}\n… and {left} characters more, in journal.jsonl"

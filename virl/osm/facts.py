"""Facts of a place that its tags tell and no other field holds."""

from collections.abc import Iterator, Mapping, Sequence

from virl.osm.extract import Tags

KEYS: Mapping[str, tuple[str, ...]] = {
    "phone": ("phone", "contact:phone"),
    "website": ("website", "contact:website", "url"),
    "cuisine": ("cuisine",),
    "wheelchair": ("wheelchair",),
}
"""Keys that tell each fact, by its name; the first that is present counts."""
DIET = "diet:"
"""Prefix of keys for diets, such as `diet:vegan=only`."""
LONGEST = 200
"""Most characters of a fact; chosen: the longest link in three extracts has 118."""


def facts_of(tags: Tags, hours_left_out: Sequence[str] = ()) -> tuple[tuple[str, str], ...]:
    """Return (name, text) of each fact, such as `("diet", "vegan only")`, in a fixed order.

    Args:
        tags: of the place.
        hours_left_out: rules of its opening hours that do not hold each week.
    """
    incomplete = f"incomplete without: {'; '.join(hours_left_out)}" if hours_left_out else ""
    facts = (*_facts(tags), ("hours", incomplete))
    return tuple((name, text[:LONGEST]) for name, text in facts if text)


def _facts(tags: Tags) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of each fact that tags can tell; texts may be empty."""
    for name, keys in KEYS.items():
        value = next((tags[key] for key in keys if tags.get(key, "").strip()), "")
        yield name, " ".join(value.split()) if name == "website" else _words(value)
    diets = sorted(key for key in tags if key.startswith(DIET))
    yield "diet", ", ".join(f"{_words(key.removeprefix(DIET))} {_words(tags[key])}" for key in diets)


def _words(value: str) -> str:
    """Return a value in words: `vegetarian;fine_dining` as `vegetarian, fine dining`."""
    parts = (" ".join(part.replace("_", " ").split()) for part in value.split(";"))
    return ", ".join(part for part in parts if part)

"""What else a place or street is called: in other languages, before, or for short."""

import re

from virl.platform.providers.osm.extract import Tags

KEYS = frozenset({"alt_name", "old_name", "short_name", "official_name", "int_name", "loc_name", "nat_name"})
_IN_A_LANGUAGE = re.compile(r"name:[a-z]{2,3}([-_]\w+)?")


def other_names(tags: Tags) -> tuple[str, ...]:
    """All names of an object but its own, each once, in the order of the tags."""
    found = [
        name.strip()
        for key, value in tags.items()
        if key in KEYS or (key.startswith("name:") and _IN_A_LANGUAGE.fullmatch(key))
        for name in value.split(";")
    ]
    return tuple(dict.fromkeys(name for name in found if name and name != tags.get("name")))

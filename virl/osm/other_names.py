"""Other names of places and streets, and extracts named in a language that a user asks for."""

import re
from collections.abc import Mapping
from dataclasses import replace

from virl.osm.extract import OsmExtract, OsmObjects, Tags

KEYS = frozenset({"alt_name", "old_name", "short_name", "official_name", "int_name", "loc_name", "nat_name"})
"""Keys of other names."""
_IN_A_LANGUAGE = re.compile(r"name:[a-z]{2,3}([-_]\w+)?")
"""Pattern of a key for a name in a language."""

_STREET_KEYS = ("addr:street", "addr:place")


def other_names(tags: Tags) -> tuple[str, ...]:
    """Return all names of an object except its main one, each once."""
    found = [
        name.strip()
        for key, value in tags.items()
        if key in KEYS or (key.startswith("name:") and _IN_A_LANGUAGE.fullmatch(key))
        for name in value.split(";")
    ]
    return tuple(dict.fromkeys(name for name in found if name and name != tags.get("name")))


def translate_names(extract: OsmExtract, language: str) -> OsmExtract:
    """Return an extract with names in a language, where they are mapped; empty keeps local names.

    The local name stays as `loc_name`, so that it is found by search.

    Args:
        extract: what was read.
        language: a code as OpenStreetMap has it, such as `en` or `zh-Hant`; empty for the local names.
    """
    if not language:
        return extract
    key = f"name:{language}"
    streets = {
        tags["name"]: tags[key]
        for tags in extract.lines.tags
        if "highway" in tags and "name" in tags and tags.get(key, "").strip()
    }
    return replace(
        extract,
        points=_rename_all(extract.points, key, streets),
        lines=_rename_all(extract.lines, key, streets),
        areas=_rename_all(extract.areas, key, streets),
    )


def _rename_all(objects: OsmObjects, key: str, streets: Mapping[str, str]) -> OsmObjects:
    """Return objects with names in the language of a key."""
    return replace(objects, tags=tuple(_rename(tags, key, streets) for tags in objects.tags))


def _rename(tags: Tags, key: str, streets: Mapping[str, str]) -> Tags:
    """Return tags with the name in the language of a key, and the local one as `loc_name`."""
    new: dict[str, str] = {name: streets[tags[name]] for name in _STREET_KEYS if tags.get(name) in streets}
    wanted, local = tags.get(key, "").strip(), tags.get("name", "")
    if wanted and wanted != local:
        known = [name for name in (local, tags.get("loc_name", "")) if name]
        new |= {"name": wanted} | ({"loc_name": ";".join(known)} if known else {})
    return {**tags, **new} if new else tags

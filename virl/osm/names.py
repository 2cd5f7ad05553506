"""Names in many languages: those of places and streets, and the words for types of places."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from virl.osm.extract import OsmExtract, OsmObjects, Tags
from virl.platform.city.place_types import by_type, more_words, words_of
from virl.towns.places import plain

KEYS = frozenset({"alt_name", "old_name", "short_name", "official_name", "int_name", "loc_name", "nat_name"})
"""Keys of tags with other names of an object than its main one."""
_IN_A_LANGUAGE = re.compile(r"name:[a-z]{2,3}([-_]\w+)?")
"""Pattern of a tag key for a name in a language, such as `name:en`."""

_STREET_KEYS = ("addr:street", "addr:place")
"""Keys of tags with the name of the street in an address, or of the place that stands for it."""


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
    """Return an extract renamed to a language such as `zh-Hant`, where mapped; unchanged for an empty one.

    The local name stays as `loc_name`, so that it is found by search.
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
    """Return objects renamed by a tag key such as `name:en`; `streets` has the new name of each street."""
    renamed: list[Tags] = []
    for tags in objects.tags:
        new: dict[str, str] = {
            name: streets[tags[name]] for name in _STREET_KEYS if tags.get(name) in streets
        }
        wanted, local = tags.get(key, "").strip(), tags.get("name", "")
        if wanted and wanted != local:
            known = [name for name in (local, tags.get("loc_name", "")) if name]
            new |= {"name": wanted} | ({"loc_name": ";".join(known)} if known else {})
        renamed.append({**tags, **new} if new else tags)
    return replace(objects, tags=tuple(renamed))


WORDS = "sign-words"
"""Name of the word list in `platform/words`."""


def types_called(text: str, nothing_found: bool) -> frozenset[str]:
    """Return the place types that a text names, also by words of signs if `nothing_found`; empty for none.

    That is if no place's name has a word of the text: a search for one chain shall not find the others.
    """
    named = _types_by_word(on_signs=False).get(plain(text), frozenset())
    return named or (_types_by_word(on_signs=True).get(plain(text), frozenset()) if nothing_found else named)


@cache
def _types_by_word(*, on_signs: bool) -> dict[str, frozenset[str]]:
    """Return the place types by each plain word that names them or, if `on_signs`, means them on signs."""
    # Words on signs were chosen by hand, and some of them are names of chains.
    types = by_type("signs") if on_signs else more_words(WORDS).types
    found: dict[str, frozenset[str]] = {}
    for place_type, _, word, is_name in words_of(types):
        if is_name:
            found[plain(word)] = found.get(plain(word), frozenset()) | {place_type}
    return found

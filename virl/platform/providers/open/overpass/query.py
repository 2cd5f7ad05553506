"""What an Overpass server is asked for places, in Overpass QL."""

import re
from collections.abc import Sequence

from virl.osm.box import Box
from virl.osm.place_types import place_keys, type_table

QUERY_S = 60
"""Seconds that the server may work on a query; counted against the caller. Chosen."""
QUERY_MB = 256
"""Megabytes that the server may use for a query; chosen."""
LINES = ("highway", "railway", "public_transport")
"""Keys that are mostly of streets and tracks: only values that make a place are asked for."""

_KINDS = {"n": "node", "w": "way", "r": "relation"}
"""Overpass' kind of object for each letter of ids."""
_ID = re.compile(r"([nwr])(\d{1,18})")
"""Pattern of the id of an object, such as `n12`."""
_HEAD = f"[out:json][timeout:{QUERY_S}][maxsize:{QUERY_MB * 1_000_000}]"
"""Settings at the start of each query."""


def places_within(box: Box) -> str:
    """Return the query for all named places in a box, areas with their middle."""
    area = ",".join(f"{degrees:.7f}" for degrees in box.degrees)
    areas = f"[{_any_of([key for key in place_keys() if key not in LINES])}]"
    lines = "".join(f'way["name"]["{key}"~"^({"|".join(type_table()[key])})$"];' for key in LINES)
    return (
        f'{_HEAD}[bbox:{area}];(node["name"][{_any_of(place_keys())}];way["name"]{areas};{lines}'
        f'relation["type"="multipolygon"]["name"];);out center;'
    )


def _any_of(keys: Sequence[str]) -> str:
    """Return the filter for objects with any of these keys."""
    return f'~"^({"|".join(keys)})$"~"."'


def place_of_id(place_id: str) -> str | None:
    """Return the query for one object by its id, such as `n12`; `None` if it is no such id."""
    found = _ID.fullmatch(place_id)
    return f"{_HEAD};{_KINDS[found[1]]}({found[2]});out center;" if found else None

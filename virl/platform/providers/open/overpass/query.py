"""What an Overpass server is asked for places, in Overpass QL."""

import re

from virl.platform.providers.osm.box import Box
from virl.platform.providers.osm.place_types import KEYS

QUERY_S = 60
"""Seconds that the server may work on a query; it counts them against those who ask. Chosen."""
QUERY_MB = 256
"""Megabytes that it may take for it; chosen."""
LINES = frozenset({"highway", "railway", "public_transport"})
"""Keys that make a place of a point; ways with them are mostly streets and tracks."""

_KINDS = {"n": "node", "w": "way", "r": "relation"}
_ID = re.compile(r"([nwr])(\d{1,18})")
_HEAD = f"[out:json][timeout:{QUERY_S}][maxsize:{QUERY_MB * 1_000_000}]"


def places_within(box: Box) -> str:
    """All that has a name and a purpose in a box, with the middle of what is no point."""
    area = ",".join(f"{degrees:.7f}" for degrees in box.degrees)
    points, areas = (f'~"^({"|".join(keys)})$"~"."' for keys in (KEYS, [k for k in KEYS if k not in LINES]))
    return (
        f'{_HEAD}[bbox:{area}];(node["name"][{points}];way["name"][{areas}];'
        f'relation["type"="multipolygon"]["name"][{areas}];);out center;'
    )


def place_of_id(place_id: str) -> str | None:
    """One object by its id, such as `n12`; `None` if it is the id of none."""
    found = _ID.fullmatch(place_id)
    return f"{_HEAD};{_KINDS[found[1]]}({found[2]});out center;" if found else None

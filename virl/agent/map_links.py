"""Positions in links to Google Maps, as people copy them from its page."""

import re
from urllib.parse import parse_qs, unquote, urlsplit

from virl.errors import BadInput
from virl.geo.globe import LatLng

_NUMBER = r"(-?\d{1,3}(?:\.\d{1,20})?)"
_PIN = re.compile(rf"!3d{_NUMBER}!4d{_NUMBER}")
_CENTER = re.compile(rf"/@{_NUMBER},{_NUMBER}")
_PAIR = re.compile(rf"\s*(?:loc:\s*)?{_NUMBER}\s*,\s*{_NUMBER}\s*")
_HOST = re.compile(r"(?:www\.|maps\.)?google\.[a-z.]{2,6}")
_SHORT = frozenset({"maps.app.goo.gl", "goo.gl", "g.co"})
_ASKED = ("q", "query", "ll")
"""Fields of a link that hold what was looked for."""


def read_map_link(text: str) -> str | LatLng | None:
    """Return the position that a link to Google Maps shows, or the address that it looks for.

    The pin of a place counts before what was looked for, and that before the middle of the map.

    Returns:
        `None` where the text is no such link.

    Raises:
        BadInput: it is a shortened link, which only Google can read, or holds neither.
    """
    link = urlsplit(text.strip())
    host = (link.hostname or "").lower()
    if link.scheme not in {"http", "https"} or not (host in _SHORT or _HOST.fullmatch(host)):
        return None
    if host in _SHORT:
        raise BadInput(f"{text}: a shortened link: open it, and copy the long one from the browser")
    address = unquote(link.path + "?" + link.query)
    asked = parse_qs(link.query)
    looked_for = next((asked[name][0] for name in _ASKED if name in asked), "")
    shown = _PAIR.fullmatch(looked_for) or (None if looked_for else _CENTER.search(address))
    pins = _PIN.findall(address) or ([shown.groups()] if shown else [])
    if pins:
        lat, lng = pins[-1]
        return LatLng(float(lat), float(lng))
    if not looked_for:
        raise BadInput(f"{text}: the link holds no position: give latitude and longitude, or an address")
    return looked_for

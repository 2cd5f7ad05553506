"""Addresses in one line, as the country writes them."""

from collections.abc import Mapping

_CODES = """
ad ae ag am as au az bb bd bf bh bj bl bm bn bz ca cc cd cg ci ck cn cx dj dm dz eg fj fk fm fr ga gb gf
gg gh gi gm gn gp gs gu gy hk hm ie im in io iq je jm jp ke kh kn kr ky la lb lk ls lu ma mc mf mg mh mm
mp mq mr ms mt mu mv mw my na nc ne nf ng nr nu nz om pf pg ph pk pm pr re rw sa sc sg sh sl sn tc tf tg
th tk tm tn to tt tv tw tz ug um us vg vi vn wf ye yt za zm zw
"""
NUMBER_FIRST = frozenset(_CODES.split())
"""Codes of the countries whose house numbers stand before the street, by the templates of OpenCage's
address-formatting 1.3.2; in the others, and in unknown ones, they stand after it."""

_ROADS = ("road", "pedestrian", "footway", "square")
"""Keys of the street."""
_TOWNS = ("city", "town", "village", "municipality")
"""Keys of one level of a place; countries differ in which they use (Nominatim, "Place Output Formats")."""
_PARTS = ("neighbourhood", "quarter", "hamlet", "suburb")
"""Keys of parts of a town, the smallest first, for addresses where streets have no names."""


def written_address(parts: Mapping[str, str], name: str = "") -> str:
    """Return an address in one line: street, number and town, in the order of its country.

    A number without a street belongs to the smallest part of the town, or to the town itself; without both
    stands a name, or else that part.

    Args:
        parts: of an address by Nominatim's levels, with its `country_code`.
        name: of what is there.
    """
    road, town, part = (
        next((parts[level] for level in levels if parts.get(level)), "")
        for levels in (_ROADS, _TOWNS, _PARTS)
    )
    number = parts.get("house_number", "")
    if road and number and parts.get("country_code", "").casefold() in NUMBER_FIRST:
        house = f"{number} {road}"
    elif road or number:
        house = f"{road or part or town} {number}".strip()
    else:
        house = name or part
    town = "" if not road and not part and number else town or part
    return ", ".join(dict.fromkeys(one for one in (house, town) if one))

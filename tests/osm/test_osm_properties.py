"""Whatever is mapped, a town that is rebuilt holds together; what cannot be used is refused or counted."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import pytest
import shapely
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from written_extract import Writer, box

from virl.errors import BadInput
from virl.osm.extract import read_extract
from virl.osm.invented import with_invented_life
from virl.osm.parts import HIGHEST_M
from virl.osm.plan import Twin, build_twin
from virl.plain_text import plain_line
from virl.platform.providers.osm.city import twin_statistics
from virl.towns.storage import decode, encode

APART_M = 80.0
building = settings(
    max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
Spot = tuple[int, int]

# XML 1.0 and OpenStreetMap allow at most 255 characters, and no control characters but tab and line breaks.
texts = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=40) | st.sampled_from(
    ["<script>alert(1)</script>", "\u202eback", "a\tb\nc", "{{ 7 * 7 }}", "x" * 255, " ", "Kahvila", "大酒店"]
)
hours = texts | st.sampled_from(["24/7", "Mo-Fr 08:00-18:00", "Mo-Su 99:00", "sunrise-sunset"])
heights = texts | st.sampled_from(["9", "1e9", "-3", "nan", "12 ft", "3;4", "99999", "0", "1.5"])
levels = texts | st.sampled_from(["0", "1", "-1", "0;1", "2-5"])
kinds = st.sampled_from(
    [
        ("amenity", "cafe"),
        ("shop", "bakery"),
        ("shop", "no such shop"),
        ("office", "yes"),
        ("leisure", "park"),
    ]
)


class Street(NamedTuple):
    start: Spot
    end: Spot
    tags: dict[str, str]


class House(NamedTuple):
    west: float
    south: float
    across: float
    up: float
    tags: dict[str, str]


class Shop(NamedTuple):
    x: float
    y: float
    tags: dict[str, str]


def streets() -> st.SearchStrategy[list[Street]]:
    spots = st.tuples(st.integers(0, 3), st.integers(0, 3))
    tags = st.fixed_dictionaries(
        {"highway": st.sampled_from(["residential", "tertiary", "footway", "service", "steps", "motorway"])},
        optional={
            "name": texts,
            "width": heights,
            "oneway": st.sampled_from(["yes", "-1", "reversible"]),
            "tunnel": st.sampled_from(["yes", "building_passage"]),
            "layer": levels,
        },
    )
    return st.lists(st.builds(Street, spots, spots, tags), min_size=1, max_size=8)


def houses() -> st.SearchStrategy[list[House]]:
    tags = st.fixed_dictionaries(
        {"building": st.sampled_from(["yes", "house", "church", "garage"])},
        optional={"height": heights, "building:levels": heights, "min_height": heights, "name": texts},
    )
    place, side = st.floats(-20, 220), st.floats(-40, 60)
    return st.lists(st.builds(House, place, place, side, side, tags), max_size=5)


def shops() -> st.SearchStrategy[list[Shop]]:
    tags = st.builds(
        lambda kind, name, more: {kind[0]: kind[1], "name": name} | more,
        kinds,
        texts,
        st.fixed_dictionaries(
            {},
            optional={
                "opening_hours": hours,
                "level": levels,
                "addr:street": texts,
                "addr:housenumber": texts,
                "diet:vegan": texts,
                "website": texts,
            },
        ),
    )
    place = st.floats(-20, 220)
    return st.lists(st.builds(Shop, place, place, tags), max_size=8)


def rebuilt(file: Path, mapped: tuple[list[Street], list[House], list[Shop]]) -> Twin:
    """The town; an example that is refused in one line says nothing more."""
    town = Writer(file)
    for start, end, tags in mapped[0]:
        points = [(APART_M * spot[0], APART_M * spot[1]) for spot in (start, (end[0], start[1]), end)]
        town.way(*dict.fromkeys(points), **tags)
    for house in mapped[1]:
        town.way(
            *box(house.west, house.south, house.west + house.across, house.south + house.up), **house.tags
        )
    for shop in mapped[2]:
        town.node(shop.x, shop.y, **shop.tags)
    town.close()
    try:
        return build_twin(read_extract(file))
    except BadInput:
        reject()


@pytest.mark.slow
@building
@given(st.tuples(streets(), houses(), shops()))
def test_a_town_holds_together(mapped: tuple[list[Street], list[House], list[Shop]]) -> None:
    with TemporaryDirectory() as folder:
        twin = rebuilt(Path(folder, "town.osm.pbf"), mapped)
    panoramas, plan = twin.plan.layout.panoramas, twin.plan
    count = len(panoramas.xy)
    pairs = set(zip(panoramas.source.tolist(), panoramas.target.tolist(), strict=True))
    assert pairs == {(end, start) for start, end in pairs}
    linked = coo_array((np.ones(len(pairs)), tuple(zip(*pairs, strict=True))), shape=(count, count))
    assert connected_components(linked, directed=False)[0] == 1
    stands = shapely.points(panoramas.xy)
    assert not any(shapely.contains(house, stands).any() for house in twin.houses.footprints)
    assert all(1.5 <= height <= HIGHEST_M for height in twin.houses.heights)

    named = [shop.tags for shop in mapped[2] if shop.tags["name"].strip()]
    assert len(plan.shops) <= len(named) + len(mapped[1])
    assert len({shop.place.id for shop in plan.shops}) == len(plan.shops)
    fronts = {frontage.id for frontage in plan.layout.frontages}
    for shop in plan.shops:
        assert shop.place.name.strip()
        assert not shop.signs or shop.frontage in fronts or shop.frontage < 0
        assert all(0 <= stretch.opens < min(1440, stretch.closes) for stretch in shop.place.hours)
    known = twin_statistics(twin)
    assert known.houses_with_height is not None
    assert known.houses_with_height <= known.houses
    assert known.hours_read is not None
    assert known.hours_unread == len(known.unread)
    assert known.hours_read + len(known.unread) <= known.places
    assert min(known.dropped_m.values(), default=0.0) >= 0


@pytest.mark.slow
@building
@given(st.tuples(streets(), houses(), shops()), st.integers(0, 3))
def test_a_town_is_the_same_from_the_cache_and_with_invented_life(
    mapped: tuple[list[Street], list[House], list[Shop]], seed: int
) -> None:
    with TemporaryDirectory() as folder:
        twin = rebuilt(Path(folder, "town.osm.pbf"), mapped)
    again = decode(Twin, encode(twin))
    assert again.plan.shops == twin.plan.shops
    assert again.plan.layout.frontages == twin.plan.layout.frontages
    assert again.pois.tags == twin.pois.tags
    lively = with_invented_life(twin.plan, twin.extract, twin.pois.tags, seed=seed, town="T")
    assert [shop.place.id for shop in lively.shops] == [shop.place.id for shop in twin.plan.shops]
    for shop in lively.shops:
        assert shop.place.rating is None or 1 <= shop.place.rating <= 5
        assert (shop.place.rating is None) == (not shop.place.reviews)


@pytest.mark.slow
@building
@given(texts)
def test_nothing_hidden_in_a_name_is_on_a_sign(name: str) -> None:
    with TemporaryDirectory() as folder:
        street, shop = Street((0, 0), (2, 0), {"highway": "residential"}), Shop(40, 6, {"shop": "bakery"})
        shop.tags["name"] = name
        twin = rebuilt(Path(folder, "town.osm.pbf"), ([street], [], [shop]))
    written = "".join(sign.text for shop in twin.plan.shops for sign in shop.signs)
    assert written == plain_line(written)
    assert all(shop.place.name == plain_line(name).strip() for shop in twin.plan.shops)

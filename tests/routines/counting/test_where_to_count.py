from dataclasses import replace
from pathlib import Path

import pytest
from made_street import FRAME, PANORAMAS, made_agent, made_character

from virl.agent.character_file import load_character
from virl.errors import BadInput
from virl.geo.globe import LatLng
from virl.platform.providers.cities import around_streets, city_settings, open_city
from virl.routines.counting.routine import region_of, route_of

CHARACTER = """\
name: Surveyor
city: virlton
start: 1 School Street
background: Measures.
intention: Measure.
count: {things: [bench]}
"""
CORNERS = [[51.4995, -0.1205], [51.4995, -0.118], [51.501, -0.118]]


def test_stops_are_addresses_or_positions_in_order(tmp_path: Path) -> None:
    route = ["East End", {"lat": 51.5, "lng": -0.119}, "West End"]
    with made_agent(tmp_path / "run", made_character(route=route)) as agent:
        stops = route_of(agent)
    end = FRAME.position(8.0 * (PANORAMAS - 1), 0.0)
    assert stops == [end, LatLng(51.5, -0.119), FRAME.position(0.0, 0.0)]


def test_corners_in_a_character_make_the_region(tmp_path: Path) -> None:
    with made_agent(tmp_path / "run", made_character(region=CORNERS)) as agent:
        assert region_of(agent).corners == tuple(LatLng(*corner) for corner in CORNERS)


def test_a_region_elsewhere_is_refused(tmp_path: Path) -> None:
    swapped = [[lng, lat] for lat, lng in CORNERS]
    with (
        made_agent(tmp_path / "run", made_character(region=swapped)) as agent,
        pytest.raises(BadInput, match=r"counter: region: lies [\d,]+ km from the centre of Testville"),
    ):
        region_of(agent)


def test_a_city_without_district_and_streets_asks_for_a_region(tmp_path: Path) -> None:
    with (
        made_agent(tmp_path / "run") as agent,
        pytest.raises(BadInput, match="Testville has no default district: give a `region:`"),
    ):
        region_of(agent)


def test_a_region_file_is_seen_from_the_character_s_own(tmp_path: Path) -> None:
    (tmp_path / "me.yaml").write_text(CHARACTER + "region: park.txt\n")
    with pytest.raises(BadInput, match=r"park.txt: no such file"):
        load_character(tmp_path / "me.yaml")
    (tmp_path / "park.txt").write_text("".join(f"{lat}, {lng}\n" for lat, lng in CORNERS))
    assert load_character(tmp_path / "me.yaml").region == tuple(map(tuple, CORNERS))


def test_around_streets_is_around_every_end_of_them() -> None:
    lines = [
        [FRAME.position(0, 0), FRAME.position(300, 0)],
        [FRAME.position(100, -50), FRAME.position(100, 200)],
    ]
    region = around_streets(lines)
    assert all(region.contains(position) for line in lines for position in line)
    beyond = [FRAME.position(*point) for point in ((-20, 0), (300, 40), (100, 220))]
    assert not any(map(region.contains, beyond))


@pytest.mark.slow
def test_the_whole_of_virlton_is_covered() -> None:
    city = open_city("virlton")
    assert city.street_map is not None
    region = around_streets(city.street_map.lines())
    assert all(
        region.contains(city.streetview.panorama(pano_id).position)
        for pano_id in city.street_map.panorama_ids()
    )
    assert 1.3e6 < region.area_m2 < 1.7e6


def test_a_city_with_a_district_is_covered_to_its_edge(tmp_path: Path) -> None:
    district = city_settings("hong-kong").region
    with made_agent(tmp_path / "run") as agent:
        assert region_of(replace(agent, city=replace(agent.city, region=district))) == district

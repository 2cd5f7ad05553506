"""A town of two streets, three houses and a few places, written as an extract and rebuilt."""

from collections import Counter
from pathlib import Path

import numpy as np
import osmium
import pytest
from written_extract import FRAME, Writer, box, opened, rebuilt

from virl.errors import BadInput, NotFound
from virl.geo.region import Region
from virl.osm import cut as cutting
from virl.osm.cut import cut
from virl.osm.extract import covered_box, read_extract
from virl.osm.hours import WeeklyHours, weekly_hours
from virl.osm.houses import houses_of
from virl.osm.parts import tagged_height
from virl.osm.places import facts_of, place_types, type_table
from virl.osm.plan import Twin, build_twin
from virl.osm.tags import metres
from virl.osm.ways import has_panoramas, is_walk_network, way_network
from virl.platform.city.places import OpeningHours
from virl.platform.providers.osm.city import open_twin
from virl.platform.providers.osm.city_file import OsmCity


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("osm") / "town.osm.pbf"
    town = Writer(path)
    town.way((-100, 0), (0, 0), (100, 0), highway="residential", name="Main Street")
    town.way((0, 0), (0, 80), highway="residential", name="Side Street")
    town.way((400, 400), (450, 400), highway="residential", name="Far Street")
    town.way((-90, -20), (90, -20), highway="footway", footway="sidewalk")
    town.way(*box(-60, 8, -20, 25), building="yes", building__levels="4")
    town.way(*box(20, 8, 60, 25), building="yes", height="9 m")
    town.way(*box(-60, -19, -20, -8), building="church", name="St Anne", amenity="place_of_worship")
    address = {"addr__street": "Main Street", "addr__housenumber": "5"}
    town.node(-40, 10, amenity="cafe", name="Kahvila", opening_hours="Mo-Fr 08:00-18:00", **address)
    town.node(-30, 10, shop="bakery", name="Хлеб", level="0")
    town.node(40, 10, office="lawyer", name="Upstairs & Sons", level="2")
    town.node(70, 5, amenity="waste_basket")
    town.close()
    return path


@pytest.fixture(scope="module")
def twin(file: Path) -> Twin:
    return build_twin(read_extract(file))


def test_streets_meet_and_what_is_cut_off_is_counted(twin: Twin) -> None:
    named = Counter(street.name for street in twin.streets.streets)
    assert named == {"Main Street": 2, "Side Street": 1}
    assert twin.streets.dropped_m["cut off from the rest"] == pytest.approx(50, abs=1)
    panoramas = twin.plan.layout.panoramas
    steps = np.linalg.norm(panoramas.xy[panoramas.source] - panoramas.xy[panoramas.target], axis=1)
    assert len(panoramas.xy) == 29
    assert steps == pytest.approx(10, abs=0.1)
    pairs = set(zip(panoramas.source.tolist(), panoramas.target.tolist(), strict=True))
    assert pairs == {(b, a) for a, b in pairs}


def test_houses_have_their_height_or_a_usual_one(twin: Twin) -> None:
    houses = twin.houses
    assert sorted(houses.heights.tolist()) == pytest.approx([9.0, 13.6, 16.0])
    assert houses.known.sum() == 2
    assert tagged_height({"height": "9000"}) is None
    assert metres("40 ft") == pytest.approx(12.192)
    assert metres("about 3") is None


def test_a_place_has_the_facts_that_its_tags_tell() -> None:
    tags = {
        "amenity": "restaurant",
        "contact:phone": " +358 9 1234;+358 9 5678 ",
        "website": "https://example.org/a;b_c",
        "cuisine": "japanese;sushi_bar",
        "wheelchair": "limited",
        "diet:vegan": "only",
        "diet:gluten_free": "yes",
        "phone": "",
    }
    assert dict(facts_of(tags)) == {
        "phone": "+358 9 1234, +358 9 5678",
        "website": "https://example.org/a;b_c",
        "cuisine": "japanese, sushi bar",
        "wheelchair": "limited",
        "diet": "gluten free yes, vegan only",
    }
    assert facts_of({"shop": "bakery"}) == ()
    assert facts_of({"website": "x" * 900}) == (("website", "x" * 200),)


def test_details_have_facts_and_lists_have_none(tmp_path: Path) -> None:
    town = Writer(tmp_path / "town.osm.pbf")
    town.way((-100, 0), (100, 0), highway="residential", name="Main Street")
    town.node(-40, 10, amenity="cafe", name="Kahvila", phone="123", wheelchair="yes")
    city = opened(town)
    [listed] = city.places.nearby(city.center, 500)
    assert listed.facts == ()
    found = city.places.details(listed.id)
    assert found.facts == (("phone", "123"), ("wheelchair", "yes"))
    assert found.traits == {"wheelchair": "yes"}


def test_places_have_the_front_they_belong_to(twin: Twin) -> None:
    shops = {shop.place.name: shop for shop in twin.plan.shops}
    assert set(shops) == {"Kahvila", "Хлеб", "Upstairs & Sons", "St Anne"}
    assert [sign.text for sign in shops["Kahvila"].signs][:1] == ["Kahvila"]
    assert [sign.kind for sign in shops["Upstairs & Sons"].signs] == ["directory"]
    frontages = {one.id: one for one in twin.plan.layout.frontages}
    fronts = [frontages[shops[name].frontage] for name in ("Kahvila", "Хлеб")]
    assert {front.left[1] for front in fronts} == {fronts[0].right[1]}
    assert shops["Kahvila"].place.types[:2] == ("cafe", "food")
    assert shops["Kahvila"].place.hours[0] == OpeningHours(0, 480, 1080)
    assert shops["Kahvila"].place.address == "Main Street 5"
    assert [one.kind for one in twin.plan.layout.furniture if one.is_mapped] == ["trash bin"]


def test_a_twin_is_a_city(file: Path) -> None:
    city = open_twin("town", OsmCity(title="Town", about="", provider="osm", extract=file))
    door = city.maps.geocode("Main Street 5")
    assert city.maps.geocode("5 main street") == door
    assert city.maps.route([door, city.maps.geocode("Side Street")]).distance > 20
    assert city.places.search("cafe")[0].name == "Kahvila"
    with pytest.raises(NotFound, match="write it as in 'Main Street 5'"):
        city.maps.geocode("9 Nowhere")


def test_a_region_cuts(file: Path) -> None:
    region = Region(tuple(FRAME.position(x, y) for x, y in box(-70, -5, 5, 30)[:4]))
    part = read_extract(file, region)
    assert len(part.lines.ids) == 2
    assert {"Kahvila", "Хлеб"} <= {tags.get("name") for tags in part.points.tags}
    assert houses_of(part).known.all()


def test_a_way_that_crosses_a_region_without_a_node_in_it_is_read(tmp_path: Path) -> None:
    town = Writer(tmp_path / "long.osm.pbf")
    town.way((-700, 10), (650, 10), highway="residential", name="Long Street")
    town.way((-650, 400), (700, 400), highway="residential", name="Beyond")
    town.way((-900, -900), (900, 900), highway="residential", name="Corner to Corner")
    town.way((60, -300), (300, 60), highway="residential", name="Outer Corner")
    town.way((-20, -80), (30, -80), highway="footway", name="Inside")
    town.way(*box(-500, 50, 500, 500), leisure="park", name="Great Park")
    town.close()
    region = Region(tuple(FRAME.position(x, y) for x, y in box(-100, -100, 100, 100)[:4]))
    part = read_extract(tmp_path / "long.osm.pbf", region)
    network = way_network(part, lambda tags: "highway" in tags)
    names = [part.lines.tags[way]["name"] for way in network.way]
    assert dict(zip(names, network.length.tolist(), strict=True)) == {
        "Long Street": pytest.approx(200, abs=1),
        "Corner to Corner": pytest.approx(283, abs=1),
        "Inside": pytest.approx(50, abs=1),
    }
    assert [tags["name"] for tags in part.areas.tags] == ["Great Park"]
    streets = build_twin(part).streets
    assert [street.name for street in streets.streets] == ["Corner to Corner"]
    assert np.abs(streets.panoramas.xy).max() <= 100


def test_a_way_in_and_out_of_a_concave_region_has_a_stretch_for_each_arm(tmp_path: Path) -> None:
    town = Writer(tmp_path / "arms.osm.pbf")
    town.way((-300, 50), (300, 50), highway="residential", name="Through")
    town.way((-300, -50), (300, -50), highway="residential", name="Foot")
    town.close()
    corners = ((-100, -100), (100, -100), (100, 100), (50, 100), (50, 0), (-50, 0), (-50, 100), (-100, 100))
    part = read_extract(tmp_path / "arms.osm.pbf", Region(tuple(FRAME.position(*at) for at in corners)))
    network = way_network(part, lambda tags: "highway" in tags)
    assert sorted(network.length.tolist()) == pytest.approx([50, 50, 200], abs=0.5)


def test_memory_of_a_part_does_not_grow_with_the_file(tmp_path: Path) -> None:
    town = Writer(tmp_path / "wide.osm.pbf")
    for row in range(40):
        town.way(*((x, 3000.0 + 10 * row) for x in range(0, 2000, 10)), highway="residential")
    town.way((-300, 0), (300, 0), highway="residential", name="Through")
    town.close()
    region = Region(tuple(FRAME.position(x, y) for x, y in box(-100, -100, 100, 100)[:4]))
    kept = tmp_path / "part.osm.pbf"
    cut(tmp_path / "wide.osm.pbf", region, kept)
    assert [one.tags["name"] for one in osmium.FileProcessor(str(kept)) if one.is_way()] == ["Through"]
    assert sum(one.is_node() for one in osmium.FileProcessor(str(kept))) == 2


def test_a_large_file_has_its_locations_on_disk(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    region = Region(tuple(FRAME.position(x, y) for x, y in box(-70, -5, 5, 30)[:4]))
    parts = []
    for least in (cutting.DISK_FROM_MB, 0):
        monkeypatch.setattr(cutting, "DISK_FROM_MB", least)
        folder = tmp_path / str(least)
        folder.mkdir()
        cut(file, region, folder / "part.osm.pbf")
        assert (folder / "locations").exists() == (least == 0)
        parts.append((folder / "part.osm.pbf").read_bytes())
    assert parts[0] == parts[1]


def test_no_room_for_locations_is_one_line(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cutting, "DISK_FROM_MB", 0)
    monkeypatch.setattr(cutting, "SCRATCH_SHARE", 1e15)
    region = Region(tuple(FRAME.position(x, y) for x, y in box(-70, -5, 5, 30)[:4]))
    with pytest.raises(BadInput, match=r"needs .* GB of disk in .*: set TMPDIR"):
        read_extract(file, region)


def test_a_way_of_which_a_node_is_missing_is_counted(tmp_path: Path) -> None:
    south_west, north_east = FRAME.position(-50, 0), FRAME.position(50, 0)
    broken = tmp_path / "broken.osm"
    broken.write_text(
        '<osm version="0.6">'
        f'<node id="1" lat="{south_west.lat}" lon="{south_west.lng}"/>'
        f'<node id="2" lat="{north_east.lat}" lon="{north_east.lng}"/>'
        '<way id="1"><nd ref="1"/><nd ref="2"/><tag k="highway" v="residential"/></way>'
        '<way id="2"><nd ref="1"/><nd ref="3"/><tag k="highway" v="residential"/></way>'
        "</osm>"
    )
    region = Region(tuple(FRAME.position(x, y) for x, y in box(-100, -100, 100, 100)[:4]))
    part = read_extract(broken, region)
    assert (len(part.lines.ids), part.left_out[0].count) == (1, 1)


def test_what_cannot_be_read_is_one_line(file: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        read_extract(tmp_path / "none.osm.pbf")
    cut = tmp_path / "cut.osm.pbf"
    cut.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(BadInput, match="cannot be read as an OpenStreetMap extract"):
        read_extract(cut)
    other = tmp_path / "town.txt"
    other.write_text("")
    with pytest.raises(BadInput, match=r"it ends in \.osm\.pbf"):
        read_extract(other)
    assert covered_box(file) is None


@pytest.mark.parametrize(
    ("tags", "walked", "seen"),
    [
        ({"highway": "residential"}, True, True),
        ({"highway": "residential", "sidewalk": "separate"}, False, True),
        ({"highway": "footway", "footway": "sidewalk"}, True, False),
        ({"highway": "footway", "tunnel": "yes"}, True, False),
        ({"highway": "service", "service": "driveway"}, True, False),
        ({"highway": "motorway"}, False, False),
        ({"highway": "footway", "access": "private"}, False, False),
    ],
)
def test_ways(tags: dict[str, str], walked: bool, seen: bool) -> None:
    assert (is_walk_network(tags), has_panoramas(tags)) == (walked, seen)


def test_hours_are_a_week() -> None:
    assert weekly_hours("24/7") == WeeklyHours(tuple(OpeningHours(day, 0, 1440) for day in range(7)))
    assert weekly_hours("Fr 22:00-04:00") == WeeklyHours((OpeningHours(4, 1320, 1680),))
    assert weekly_hours("Su 22:00-26:00") == WeeklyHours((OpeningHours(6, 1320, 1560),))
    assert weekly_hours("only in summer") is None


def test_types_are_the_finest_first() -> None:
    assert sum(map(len, type_table().values())) > 250
    assert place_types({"amenity": "restaurant", "cuisine": "sushi"})[:2] == (
        "sushi_restaurant",
        "restaurant",
    )
    unmapped: Counter[str] = Counter()
    assert place_types({"shop": "of_hats"}, unmapped)[0] == "store"
    assert unmapped == {"shop=of_hats": 1}
    assert place_types({"highway": "residential"}) == ()


@pytest.mark.parametrize(
    ("tags", "first"),
    [
        ({"education": "music"}, "music_school"),
        ({"education": "unheard_of"}, "school"),
        ({"club": "sport"}, "sports_club"),
        ({"emergency": "ambulance_station"}, "ambulance_station"),
        ({"emergency": "fire_hydrant"}, None),
        ({"tourism": "artwork"}, "sculpture"),
        ({"tourism": "information", "information": "guidepost"}, None),
        ({"tourism": "information", "information": "office"}, "tourist_information_center"),
        ({"amenity": "vending_machine"}, None),
        ({"shop": "yes"}, "store"),
    ],
)
def test_things_beside_the_way_are_no_places(tags: dict[str, str], first: str | None) -> None:
    unmapped: Counter[str] = Counter()
    assert next(iter(place_types(tags, unmapped)), None) == first
    assert bool(unmapped) == ("unheard_of" in tags.values())


def test_a_place_in_no_house_has_a_board_on_posts(tmp_path: Path) -> None:
    town = Writer(tmp_path / "open.osm.pbf")
    town.way((-100, 0), (0, 0), (100, 0), highway="residential", name="Main Street")
    town.node(0, 12, amenity="fast_food", name="Kiosk")
    town.node(30, 0.5, amenity="fuel", name="In the Road")
    town.node(0, 29, amenity="fast_food", name="Off the Road")
    plan = rebuilt(town).plan
    signs = {shop.place.name: shop.signs for shop in plan.shops}
    [kiosk] = signs["Kiosk"]
    assert (kiosk.kind, len(signs["Off the Road"])) == ("board", 1)
    (x0, y0), (x1, y1) = kiosk.left, kiosk.right
    assert x0 < x1  # it is read from the street, which lies to the south
    assert y0 == pytest.approx(y1, abs=0.5)
    [moved] = signs["In the Road"]
    assert abs((moved.left[1] + moved.right[1]) / 2) > 3.0  # beside the carriageway of 6 m
    middles = np.array([[(s.left[0] + s.right[0]) / 2, (s.left[1] + s.right[1]) / 2] for s in (kiosk, moved)])
    panoramas = plan.layout.panoramas.xy
    assert (np.linalg.norm(middles[:, None] - panoramas, axis=2) >= 4.0).all()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('id="1" version="1"', 'id="6{%" version="1"', "cannot be read as an OpenStreetMap extract"),
        ('v="Main"', f'v="{"x" * 2000}"', "cannot be read as an OpenStreetMap extract"),
        ('lon="24.941"', 'lon="44.941"', "km apart: give the part to read"),
        ('lon="24.941"', 'lon="24.94"', "no street to walk lies in this part"),
    ],
)
def test_what_is_wrong_in_an_extract_is_one_line(old: str, new: str, said: str, tmp_path: Path) -> None:
    text = (
        '<osm version="0.6"><node id="1" version="1" lat="60.17" lon="24.94"/>'
        '<node id="2" version="1" lat="60.17" lon="24.941"/>'
        '<way id="1" version="1"><nd ref="1"/><nd ref="2"/>'
        '<tag k="highway" v="residential"/><tag k="name" v="Main"/></way></osm>'
    )
    good, bad = tmp_path / "good.osm", tmp_path / "bad.osm"
    good.write_text(text)
    build_twin(read_extract(good, None))
    bad.write_text(text.replace(old, new))
    with pytest.raises(BadInput, match=said) as refused:
        build_twin(read_extract(bad, None))
    assert "\n" not in str(refused.value)

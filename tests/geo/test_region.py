import json
from math import nan
from pathlib import Path

import numpy as np
import pytest
import shapely
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pyproj import Geod
from real_data import real_data

from virl.errors import BadInput
from virl.geo.globe import LatLng, LocalFrame, distance
from virl.geo.region import MAX_REACH_M, Region, region_fault
from virl.settings.region_file import read_region

GEOD = Geod(ellps="WGS84")
LONDON = LatLng(51.5074, -0.1278)
SQUARE = "51.51, -0.14\n51.51, -0.13\n51.50, -0.13\n51.50, -0.14\n"

origins = st.builds(LatLng, st.floats(-70, 70), st.floats(-180, 180))


def box(origin: LatLng, width: float, height: float) -> tuple[LatLng, ...]:
    """A rectangle in metres, its south-west corner at the origin."""
    frame = LocalFrame(origin)
    return tuple(frame.position(x, y) for x, y in ((0, 0), (width, 0), (width, height), (0, height)))


@st.composite
def stars(draw: st.DrawFn) -> tuple[LatLng, ...]:
    """Simple polygons, mostly not convex: one corner on each of some rays around a position."""
    frame = LocalFrame(draw(origins))
    count = draw(st.integers(3, 12))
    reaches = draw(st.lists(st.floats(20, 3000), min_size=count, max_size=count))
    angles = np.linspace(0, 2 * np.pi, count, endpoint=False)
    return tuple(
        frame.position(reach * np.cos(angle), reach * np.sin(angle))
        for reach, angle in zip(reaches, angles, strict=True)
    )


@pytest.mark.slow
@given(stars())
def test_the_area_is_that_of_the_geodesic_polygon(corners: tuple[LatLng, ...]) -> None:
    lngs, lats = [corner.lng for corner in corners], [corner.lat for corner in corners]
    exact, _ = GEOD.polygon_area_perimeter(lngs, lats)
    assert Region(corners).area_m2 == pytest.approx(abs(exact), rel=2e-3, abs=0.1)


@pytest.mark.slow
@given(st.floats(-70, 70), st.floats(0, 360))
def test_metres_hold_as_far_as_a_region_reaches(lat: float, heading: float) -> None:
    origin = LatLng(lat, 10.0)
    lng, far, _ = GEOD.fwd(origin.lng, origin.lat, heading, MAX_REACH_M)
    x, y = LocalFrame(origin).point(LatLng(far, lng))
    assert np.hypot(x, y) == pytest.approx(MAX_REACH_M, rel=5e-3)


@pytest.mark.slow
@given(stars(), st.integers(0, 11), st.booleans())
def test_neither_the_first_corner_nor_the_way_round_nor_closing_matters(
    corners: tuple[LatLng, ...], first: int, reverse: bool
) -> None:
    turn = first % len(corners)
    other = corners[turn:] + corners[:turn]
    other = other[::-1] if reverse else other
    region = Region((*other, other[0]))
    assert region.corners == other
    assert region.area_m2 == pytest.approx(Region(corners).area_m2)
    assert region.contains(Region(corners).center)


@pytest.mark.slow
@given(origins, st.floats(50, 3000), st.floats(50, 3000), st.floats(-0.5, 1.5), st.floats(-0.5, 1.5))
def test_contains_what_lies_between_its_sides(
    origin: LatLng, width: float, height: float, across: float, up: float
) -> None:
    assume(min(abs(across), abs(up), abs(across - 1), abs(up - 1)) > 1e-6)
    here = LocalFrame(origin).position(across * width, up * height)
    assert Region(box(origin, width, height)).contains(here) == (0 < across < 1 and 0 < up < 1)


def test_its_edge_belongs_to_it() -> None:
    corners = tuple(LatLng(lat, lng) for lat, lng in ((0.0, 0.0), (0.0, 0.01), (0.01, 0.01), (0.01, 0.0)))
    region = Region(corners)
    assert all(region.contains(corner) for corner in corners)
    assert region.contains(LatLng(0.0, 0.005))
    assert not region.contains(LatLng(-1e-6, 0.005))


@pytest.mark.slow
@settings(max_examples=40)
@given(origins, st.floats(10, 60), st.integers(3, 20), st.integers(3, 20))
def test_a_grid_is_as_wide_to_the_east_as_to_the_north(
    origin: LatLng, spacing: float, columns: int, rows: int
) -> None:
    region = Region(box(origin, (columns + 0.5) * spacing, (rows + 0.5) * spacing))
    grid = region.grid(spacing)
    assert columns * rows <= len(grid) <= (columns + 1) * (rows + 1)
    assert all(region.contains(here) for here in grid)
    width = next(index for index, here in enumerate(grid) if abs(here.lat - grid[0].lat) > 1e-9)
    assert distance(grid[0], grid[1]) == pytest.approx(spacing, rel=1e-3)
    assert distance(grid[0], grid[width]) == pytest.approx(spacing, rel=1e-3)
    nearest = [distance(grid[0], here) for here in grid[1:]]
    assert min(nearest) == pytest.approx(spacing, rel=1e-3)


@pytest.mark.slow
@settings(max_examples=40)
@given(stars(), st.floats(40, 300))
def test_a_grid_stays_inside_and_fills_the_region(corners: tuple[LatLng, ...], spacing: float) -> None:
    region = Region(corners)
    grid = region.grid(spacing)
    assert grid
    points = shapely.points(*region.frame.to_metres(*np.array(grid).T))
    assert np.all(shapely.dwithin(region.polygon, points, 1e-6))
    # Gauss: a lattice is off by at most as many positions as the outline passes cells
    outline = region.polygon.length / spacing
    assert abs(len(grid) - region.area_m2 / spacing**2) <= 2 * outline + 4


def test_a_region_between_the_positions_of_a_grid_gives_its_middle() -> None:
    corners = (LatLng(10.0, 10.0), LatLng(10.01, 10.0001), LatLng(10.0101, 10.0))
    region = Region(corners)
    grid = region.grid(5000)
    assert len(grid) == 1
    assert region.contains(grid[0])


@pytest.mark.parametrize("spacing", [0.0, -20.0, nan, float("inf"), 1e-3])
def test_a_grid_has_a_sensible_spacing(spacing: float) -> None:
    with pytest.raises(BadInput, match="grid spacing"):
        Region(box(LONDON, 900, 900)).grid(spacing)


def test_a_region_may_cross_the_antimeridian() -> None:
    region = Region(box(LatLng(-17.0, 179.995), 1000, 800))
    assert region.area_m2 == pytest.approx(800_000, rel=1e-3)
    assert region.contains(LatLng(-16.998, -179.999))
    assert not region.contains(LatLng(-16.998, 0.0))
    assert {round(here.lng) for here in region.grid(100)} == {180, -180}


def test_the_centre_of_a_bent_region_lies_in_it() -> None:
    frame = LocalFrame(LONDON)
    bent = ((0, 0), (900, 0), (900, 900), (800, 900), (800, 100), (0, 100))
    region = Region(tuple(frame.position(x, y) for x, y in bent))
    assert region.contains(region.center)


@pytest.mark.parametrize(
    ("ring", "fault"),
    [
        ("0,0 1,1 1,0 0,1", "corner 1: its side meets the side from corner 3"),
        ("0,0 1,0 2,0", "corner 1: its side runs along the side from corner 3"),
        ("0,0 2,0 1,0 1,1", "corner 1: its side runs along the side from corner 2"),
        ("0,0 1,0 1,1 1,1 0,1", None),
        ("0,0 2,0 1,1 2,2 0,2 1,1", "corner 2: its side meets the side from corner 5"),
        ("0,0 1,0 0,0", "corner 3: only 2 different corners: a region needs 3"),
        ("", "only 0 different corners"),
        (
            "0,0 1,0 1,200",
            "corner 3: lies .* km from the middle of the others: a region reaches 10 km at most",
        ),
    ],
)
def test_a_fault_names_its_corner(ring: str, fault: str | None) -> None:
    steps = [tuple(map(float, each.split(","))) for each in ring.split()]
    corners = tuple(LatLng(51.5 + 0.001 * y, -0.1 + 0.001 * x) for x, y in steps)
    found = region_fault(corners)
    if fault is None:
        assert found is None
        return
    with pytest.raises(BadInput, match=f"^region: .*{fault}"):
        Region(corners)


def write(tmp_path: Path, text: str | bytes) -> Path:
    file = tmp_path / "area"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


@pytest.mark.parametrize(
    "text",
    [
        SQUARE,
        f"\n{SQUARE}\n\n51.51, -0.14\n",
        SQUARE.replace("\n", "\r\n"),
        "\ufeff" + SQUARE,
        "".join(f"({line})\n" for line in SQUARE.splitlines()),
        SQUARE.rstrip(),
    ],
)
def test_reads_a_line_for_each_corner(tmp_path: Path, text: str) -> None:
    region = read_region(write(tmp_path, text), near=LONDON)
    assert region.corners == tuple(
        LatLng(*each) for each in ((51.51, -0.14), (51.51, -0.13), (51.5, -0.13), (51.5, -0.14))
    )


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", ": contains no corners"),
        ("51.51, -0.14\n\nhello\n", ", line 3: 'hello' is not a `lat, lng` line"),
        ("51.51, -0.14, 3\n", ", line 1: '51.51, -0.14, 3' is not"),
        ("51.51 -0.14\n", ", line 1: "),
        (SQUARE + "nan, 0.1\n", ", line 5: corner 5: nan, 0.1 is not a position"),
        (SQUARE + "51.5, inf\n", ", line 5: corner 5: 51.5, inf is not a position"),
        ("\n51.51, -0.14\n51.51, -0.13\n", ", line 3: corner 2: only 2 different corners"),
        ("22.32, 114.17\n114.18, 22.32\n", ", line 2: corner 2: latitude 114.18 is outside .* swapped"),
        (SQUARE + "51.5, 181\n", ", line 5: corner 5: longitude 181 is outside"),
        (SQUARE + "\n-0.135, 51.505\n", ", line 6: corner 5: lies .* km from .*: .*swapped"),
        ("-0.14, 51.51\n" + SQUARE, ", line 1: corner 1: lies .* km from .*: .*swapped"),
        ("\n51.50, -0.14\n51.51, -0.13\n51.50, -0.13\n51.51, -0.14\n", ", line 2: corner 1: its side meets"),
        ("-0.14, 51.51\n-0.13, 51.51\n-0.13, 51.5\n", ", line 1: corner 1: .* from the city's .*swapped"),
        ("48.85, 2.35\n48.86, 2.35\n48.86, 2.36\n", ", line 1: corner 1: .* choose a region of the city"),
        (b"51.5, -0.1\xff\n", ", line 1: the byte 0xff is not UTF-8: save the file as UTF-8"),
    ],
)
def test_a_fault_in_a_text_file_is_named_with_file_and_line(
    tmp_path: Path, text: str | bytes, fault: str
) -> None:
    with pytest.raises(BadInput, match=f"area{fault}") as caught:
        read_region(write(tmp_path, text), near=LONDON)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"gone\.txt: no such file"):
        read_region(tmp_path / "gone.txt")


RING = [[-0.14, 51.51], [-0.13, 51.51], [-0.13, 51.5], [-0.14, 51.5], [-0.14, 51.51]]
POLYGON = {"type": "Polygon", "coordinates": [RING]}
FEATURE = {"type": "Feature", "properties": {"name": "Soho \N{GRINNING FACE}"}, "geometry": POLYGON}


@pytest.mark.parametrize(
    "data",
    [
        POLYGON,
        {"type": "Polygon", "coordinates": [RING[:-1]]},
        {"type": "Polygon", "coordinates": [[[*corner, 12] for corner in RING]]},
        {"type": "MultiPolygon", "coordinates": [[RING]]},
        FEATURE,
        {"type": "FeatureCollection", "features": [FEATURE], "bbox": [-1, 50, 1, 52]},
    ],
)
@pytest.mark.parametrize("indent", [None, 1, "\t"])
def test_reads_the_same_region_from_geojson(
    tmp_path: Path, data: dict[str, object], indent: int | str | None
) -> None:
    region = read_region(write(tmp_path, json.dumps(data, indent=indent)), near=LONDON)
    assert region == read_region(write(tmp_path, SQUARE))


def geojson(*lines: str) -> str:
    return '{"type": "Polygon",\n"coordinates": [[\n' + ",\n".join(lines) + "\n]]}"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"type": "Polygon",\n "coordinates": [[[1,2]', ", line 2: not valid JSON"),
        ("{" + '"a":[' * 100_000, ": nested too deeply|, line 1: not valid JSON"),
        ('{"type": "Point", "coordinates": [1, 2]}', ": contains no GeoJSON Polygon"),
        ('{"type": "FeatureCollection", "features": []}', ": contains 0 features"),
        (json.dumps({"type": "FeatureCollection", "features": [FEATURE, FEATURE]}), ": contains 2 features"),
        (json.dumps({"type": "MultiPolygon", "coordinates": [[RING], [RING]]}), ": contains 2 polygons"),
        (json.dumps({"type": "Polygon", "coordinates": [RING, RING]}), ": the polygon has holes"),
        (json.dumps({"type": "Feature", "geometry": None}), ": contains no GeoJSON Polygon"),
        ('{"type": "Polygon", "coordinates": [[]]}', ": contains no corners"),
        (geojson("[-0.14, 51.51]", "[-0.13]", "[-0.13, 51.5]"), r", line 4: corner 2: should be \[longitude"),
        (geojson("[-0.14, 51.51]", '["a", 1]', "[-0.13, 51.5]"), ", line 4: corner 2: should be"),
        (geojson("[-0.14, 51.51]", "[true, 1]", "[-0.13, 51.5]"), ", line 4: corner 2: should be"),
        (geojson("[-0.14, 51.51]", "[NaN, 1]", "[-0.13, 51.5]"), ", line 4: not valid JSON at column 2"),
        (geojson("[114, 22]", "[22, 114]", "[114, 22.1]"), ", line 4: corner 2: latitude 114 .*swapped"),
        (geojson("[-0.14, 51.51]", "[-0.13, 51.51]"), ", line 4: corner 2: only 2 different corners"),
        (
            geojson("[-0.14, 51.5]", "[-0.13, 51.51]", "[-0.13, 51.5]", "[-0.14, 51.51]"),
            ", line 3: corner 1: its side meets the side from corner 3",
        ),
    ],
)
def test_a_fault_in_geojson_is_named_with_file_and_line(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(BadInput, match=f"area({fault})") as caught:
        read_region(write(tmp_path, text))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("folder", "count"), [("regions", 14), ("localization_regions", 28)])
def test_all_regions_of_virl_load(folder: str, count: int) -> None:
    files = sorted((real_data("virl") / folder).rglob("polygon*.txt"))
    assert len(files) == count
    for file in files:
        region = read_region(file)
        assert 1_000 < region.area_m2 < 10e6, file
        assert region.contains(region.center), file


def test_the_outline_of_central_park_loads() -> None:
    park = read_region(real_data("virl") / "agents" / "full_central_park.txt")
    assert park.area_m2 / 1e6 == pytest.approx(3.6, abs=0.3)
    assert len(park.grid(20)) == pytest.approx(park.area_m2 / 400, rel=0.02)


@pytest.mark.parametrize(
    ("name", "is_read"),
    [
        ("urn:ogc:def:crs:OGC:1.3:CRS84", True),
        ("urn:ogc:def:crs:EPSG::4326", True),
        ("EPSG:4326", True),
        ("EPSG:3857", False),
        ("urn:ogc:def:crs:OGC:1.3:CRS27", False),
        ("EPSG:14326", False),
    ],
)
def test_coordinates_of_another_system_are_refused_by_its_name(
    tmp_path: Path, name: str, is_read: bool
) -> None:
    ring = [[-0.14, 51.51], [-0.13, 51.51], [-0.13, 51.5], [-0.14, 51.51]]
    crs = {"type": "name", "properties": {"name": name}}
    feature = {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [ring]}}
    file = tmp_path / "region.geojson"
    for data in (feature | {"crs": crs}, {"type": "FeatureCollection", "crs": crs, "features": [feature]}):
        file.write_text(json.dumps(data))
        if is_read:
            assert read_region(file)
            continue
        with pytest.raises(BadInput, match=f"its coordinates are in {name}: convert them"):
            read_region(file)

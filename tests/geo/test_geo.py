import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyproj import Geod

from virl.geo import globe
from virl.geo.globe import LatLng, LocalFrame

GEOD = Geod(ellps="WGS84")

latitudes = st.floats(-90, 90)
longitudes = st.floats(-180, 180)
positions = st.builds(LatLng, latitudes, longitudes)
headings = st.floats(0, 359.999)
any_angle = st.floats(-1e6, 1e6)
walks = st.floats(1, 5000)


@given(any_angle)
def test_normalized_heading_is_the_same_direction_within_range(angle: float) -> None:
    heading = globe.normalize_heading(angle)
    assert 0 <= heading < 360
    assert math.isclose(math.cos(math.radians(heading - angle)), 1, abs_tol=1e-6)


@pytest.mark.parametrize(("angle", "expected"), [(0, 0), (360, 0), (-1, 359), (720.5, 0.5), (-1e-17, 0)])
def test_normalized_heading_at_the_seam(angle: float, expected: float) -> None:
    assert globe.normalize_heading(angle) == expected


@given(headings, headings)
def test_signed_turn_leads_to_the_target_the_short_way(source: float, target: float) -> None:
    turn = globe.signed_turn(source, target)
    assert isinstance(turn, float)
    assert -180 < turn <= 180
    assert abs(globe.signed_turn(source + turn, target)) < 1e-6


@pytest.mark.parametrize(
    ("source", "target", "expected"), [(359, 1, 2), (1, 359, -2), (0, 180, 180), (90, 270, 180), (10, 10, 0)]
)
def test_signed_turn_wraps_at_north(source: float, target: float, expected: float) -> None:
    assert globe.signed_turn(source, target) == expected


@given(positions, headings, walks)
def test_agrees_with_proj_within_five_kilometres(start: LatLng, heading: float, metres: float) -> None:
    lng, lat, _ = GEOD.fwd(start.lng, start.lat, heading, metres)
    end = LatLng(lat, lng)
    assert globe.distance(start, end) == pytest.approx(metres, rel=1e-3, abs=1e-3)
    reached = globe.destination(start, heading, metres)
    _, _, miss = GEOD.inv(reached.lng, reached.lat, lng, lat)
    assert miss <= 1e-3 * metres + 1e-3
    if abs(start.lat) < 90 - 1e-6:
        assert abs(globe.signed_turn(globe.bearing(start, end), heading)) < math.degrees(1e-3) + 1e-4 / metres


@given(positions, headings, walks)
def test_destination_lies_at_the_bearing_and_distance_asked(
    start: LatLng, heading: float, metres: float
) -> None:
    reached = globe.destination(start, heading, metres)
    assert -90 <= reached.lat <= 90
    assert -180 <= reached.lng <= 180
    assert globe.distance(start, reached) == pytest.approx(metres, rel=1e-3)


@given(positions, positions)
def test_distance_is_symmetric_and_bounded_by_half_the_globe(a: LatLng, b: LatLng) -> None:
    assert globe.distance(a, b) == globe.distance(b, a)
    assert globe.distance(a, b) <= math.pi * globe.MEAN_RADIUS_M
    assert globe.distance(a, a) == 0


def test_walking_over_the_pole_and_the_antimeridian() -> None:
    over_the_pole = globe.destination(LatLng(89.99, 0), 0, 2234)
    assert over_the_pole.lat == pytest.approx(89.99, abs=2e-4)
    assert abs(over_the_pole.lng) == pytest.approx(180)
    west, east = LatLng(10, 179.999), LatLng(10, -179.999)
    assert globe.distance(west, east) == pytest.approx(GEOD.inv(179.999, 10, -179.999, 10)[2], rel=1e-3)
    assert globe.bearing(west, east) == pytest.approx(90, abs=0.01)


def test_arrays_give_what_scalars_give() -> None:
    here = LatLng(41.25, -38.75)
    lats, lngs = np.array([41.26, 41.25, 41.24]), np.array([-38.75, -38.74, -38.76])
    ends = [LatLng(*pair) for pair in zip(lats, lngs, strict=True)]
    assert globe.distances(*here, lats, lngs) == pytest.approx([globe.distance(here, end) for end in ends])
    assert globe.bearings(*here, lats, lngs) == pytest.approx([globe.bearing(here, end) for end in ends])


@given(st.floats(-80, 80), longitudes, headings, walks)
def test_local_frame_keeps_distances_and_comes_back(
    lat: float, lng: float, heading: float, metres: float
) -> None:
    frame = LocalFrame(LatLng(lat, lng))
    x, y = metres * math.sin(math.radians(heading)), metres * math.cos(math.radians(heading))
    position = frame.position(x, y)
    assert frame.point(position) == pytest.approx((x, y), abs=1e-5)
    # A flat frame errs by about x / (2 R) tan(lat): 0.2 % at 80 degrees north and 5 km.
    assert globe.distance(frame.origin, position) == pytest.approx(
        metres, rel=1e-3 if abs(lat) < 60 else 3e-3
    )


@pytest.mark.parametrize(
    ("heading", "left", "right", "inside"),
    [
        (0, 350, 10, True),
        (355, 350, 10, True),
        (11, 350, 10, False),
        (90, 80, 100, True),
        (350, 350, 10, True),
    ],
)
def test_sector_wraps_at_north(heading: float, left: float, right: float, inside: bool) -> None:
    assert globe.in_sector(heading, left, right) is inside


@pytest.mark.parametrize(
    ("heading", "target", "word"),
    [(0, 0, "front"), (350, 5, "front"), (0, 315, "front left"), (90, 180, "right"), (10, 190, "rear")],
)
def test_egocentric_words(heading: float, target: float, word: str) -> None:
    assert globe.egocentric_word(heading, target) == word


@pytest.mark.parametrize(
    ("heading", "word"), [(0, "north"), (359, "north"), (44, "northeast"), (270, "west")]
)
def test_compass_words(heading: float, word: str) -> None:
    assert globe.compass_word(heading) == word

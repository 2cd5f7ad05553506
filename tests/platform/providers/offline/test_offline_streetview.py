import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from virl.errors import BadInput, NoStreetView
from virl.geo.globe import LatLng, bearing, destination, distance, signed_turn
from virl.platform.city.streetview import Camera, Image
from virl.towns.plan.layout import lay_out
from virl.towns.plan.town_plan import StreetPlan
from virl.towns.streetview import OfflineStreetMap, OfflineStreetView, panorama_graph

PLAN = lay_out(0)  # hypothesis takes no fixtures


class Recorder:
    """A renderer that draws its own arguments and remembers them."""

    def __init__(self) -> None:
        self.asked: list[tuple[float, float, Camera]] = []

    def picture(self, x: float, y: float, camera: Camera) -> Image:
        self.asked.append((x, y, camera))
        return np.full((camera.height, camera.width, 3), len(self.asked), dtype=np.uint8)


STREETVIEW = OfflineStreetView(PLAN, Recorder)


@pytest.fixture(scope="module")
def plan() -> StreetPlan:
    return PLAN


@pytest.fixture
def streetview(plan: StreetPlan) -> OfflineStreetView:
    return OfflineStreetView(plan, Recorder)


def test_ids_are_short_and_stay_with_their_panorama(plan: StreetPlan, streetview: OfflineStreetView) -> None:
    pano = streetview.panorama("vt-00042")
    assert pano.id == "vt-00042"
    assert pano.date == "2026-05"
    assert plan.frame.point(pano.position) == pytest.approx(tuple(plan.panoramas.xy[42]), abs=1e-6)


@pytest.mark.slow
def test_links_are_what_they_say(plan: StreetPlan, streetview: OfflineStreetView) -> None:
    crossings = 0
    for pano_id in OfflineStreetMap(plan).panorama_ids():
        pano = streetview.panorama(pano_id)
        crossings += pano.is_crossing
        assert pano.links
        for link in pano.links:
            other = streetview.panorama(link.pano_id)
            assert link.heading == pytest.approx(bearing(pano.position, other.position), abs=1e-9)
            assert link.distance == distance(pano.position, other.position)
            (back,) = [way for way in other.links if way.pano_id == pano_id]
            assert abs(signed_turn(back.heading, link.heading + 180)) < 0.01
    assert crossings > 150


def test_the_car_faced_along_the_street(plan: StreetPlan, streetview: OfflineStreetView) -> None:
    for pano_id in OfflineStreetMap(plan).panorama_ids():
        pano = streetview.panorama(pano_id)
        off = min(
            abs(signed_turn(pano.heading + turn, link.heading)) for link in pano.links for turn in (0, 180)
        )
        assert off < 20.0


def test_a_view_is_drawn_at_the_panorama(plan: StreetPlan) -> None:
    recorder, camera = Recorder(), Camera(heading=30, width=64, height=48)
    view = OfflineStreetView(plan, lambda: recorder).view("vt-00007", camera)
    assert (view.pano_id, view.camera) == ("vt-00007", camera)
    assert view.pixels.shape == (48, 64, 3)
    assert view.pixels.dtype == np.uint8
    assert recorder.asked == [(*plan.panoramas.xy[7].tolist(), camera)]


@pytest.mark.parametrize("pano_id", ["vt-99999", "", "42", "VT-00042"])
def test_unknown_ids_are_named(streetview: OfflineStreetView, pano_id: str) -> None:
    for ask in (streetview.panorama, lambda name: streetview.view(name, Camera(0))):
        with pytest.raises(NoStreetView, match=f"'{pano_id}'"):
            ask(pano_id)


@given(st.floats(-700, 700), st.floats(-650, 650), st.floats(1, 1000))
def test_nearest_is_the_nearest_within_the_radius(x: float, y: float, radius: float) -> None:
    gaps = np.hypot(*(PLAN.panoramas.xy - [x, y]).T)
    found = STREETVIEW.nearest(PLAN.frame.position(x, y), radius)
    if found is None:
        assert gaps.min() > radius * 0.998
    else:
        gap = gaps[int(found.id.removeprefix("vt-"))]
        assert gap == pytest.approx(gaps.min(), rel=2e-3)
        assert gap <= radius * 1.002


def test_nothing_is_near_the_end_of_the_world(streetview: OfflineStreetView, plan: StreetPlan) -> None:
    assert streetview.nearest(LatLng(-41.0, 140.0), 1000) is None
    edge = plan.frame.position(float(plan.panoramas.xy[:, 0].max()), 0.0)
    assert streetview.nearest(destination(edge, 90, 300)) is None


@pytest.mark.parametrize("radius", [0, -1, 1000.1, float("nan"), float("inf")])
def test_bad_radii_are_refused(streetview: OfflineStreetView, radius: float) -> None:
    with pytest.raises(BadInput, match="radius"):
        streetview.nearest(LatLng(41.25, -38.75), radius)


def test_the_street_map_shows_every_street_and_panorama(plan: StreetPlan) -> None:
    street_map = OfflineStreetMap(plan)
    lines = street_map.lines()
    assert len(lines) == len(plan.streets)
    for line, street in zip(lines, plan.streets, strict=True):
        assert len(line) == len(street.line)
        assert plan.frame.point(line[-1]) == pytest.approx(tuple(plan.junctions[street.end]), abs=1e-6)
    assert list(street_map.panorama_ids()) == list(panorama_graph(plan).ids)
    assert len(set(street_map.panorama_ids())) == len(plan.panoramas.xy)

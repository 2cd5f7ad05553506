import logging

import pytest

from virl.errors import NoStreetView
from virl.geo.globe import LatLng, destination, distance
from virl.platform.city.city import City
from virl.platform.city.streetview import MAX_RADIUS_M, RADII_M, Camera, Panorama, View, relocate


class Counted:
    """A street view that remembers the radii that it was asked for."""

    def __init__(self, city: City) -> None:
        self._streetview = city.streetview
        self.radii: list[float] = []

    def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
        self.radii.append(radius)
        return self._streetview.nearest(position, radius)

    def panorama(self, pano_id: str) -> Panorama:
        return self._streetview.panorama(pano_id)

    def view(self, pano_id: str, camera: Camera) -> View:
        return self._streetview.view(pano_id, camera)


@pytest.fixture(scope="module")
def shore(virlton: City) -> LatLng:
    """The position of the panorama that lies farthest east."""
    assert virlton.street_map is not None
    panoramas = map(virlton.streetview.panorama, virlton.street_map.panorama_ids())
    return max((panorama.position for panorama in panoramas), key=lambda position: position.lng)


def test_the_radii_are_what_street_view_takes() -> None:
    assert list(RADII_M) == sorted(set(RADII_M))
    assert 0 < RADII_M[0] <= RADII_M[-1] <= MAX_RADIUS_M


@pytest.mark.parametrize(
    ("metres", "asked"),
    [(10, [50]), (70, [50, 100]), (150, [50, 100, 200]), (350, [50, 100, 200, 400]), (700, list(RADII_M))],
)
def test_asks_ever_wider_until_there_is_one(
    virlton: City, shore: LatLng, metres: float, asked: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    streetview = Counted(virlton)
    at_sea = destination(shore, 90, metres)
    found = relocate(streetview, at_sea, "the start")
    assert streetview.radii == asked
    assert found == virlton.streetview.nearest(at_sea, MAX_RADIUS_M)
    away = distance(found.position, at_sea)
    assert away <= asked[-1]
    assert [record.getMessage() for record in caplog.records] == (
        [] if len(asked) == 1 else [f"the start: the nearest street view is {away:.0f} m from {at_sea}"]
    )


def test_says_where_it_looked_and_how_far(virlton: City, shore: LatLng) -> None:
    streetview = Counted(virlton)
    at_sea = destination(shore, 90, 900)
    with pytest.raises(NoStreetView) as caught:
        relocate(streetview, at_sea, "the start 'Lighthouse'")
    assert str(caught.value) == (
        f"no street view within 800 m of the start 'Lighthouse' at {at_sea}: choose one closer to a street"
    )
    assert streetview.radii == list(RADII_M)


def test_the_limit_is_the_callers(virlton: City, shore: LatLng) -> None:
    streetview = Counted(virlton)
    with pytest.raises(NoStreetView, match="within 60 m"):
        relocate(streetview, destination(shore, 90, 70), "the start", radii=(20, 60))
    assert streetview.radii == [20, 60]

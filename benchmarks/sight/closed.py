"""What a walker is given of a city: the panoramas that it came to, nothing that tells where places are."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NoReturn

from virl.errors import NoStreetView, NotFound
from virl.geo.globe import Floats, LatLng
from virl.platform.city.city import City
from virl.platform.city.maps import Route, TravelMode
from virl.platform.city.places import Place
from virl.platform.city.streetview import Camera, Image, Panorama, StreetView, View

CLOSED = "places, maps and routes are closed in this benchmark: go by what you see"


class WalkedStreetView:
    """A street view that shows only where the walker stood, and the panoramas linked from there."""

    def __init__(self, streetview: StreetView, start: str) -> None:
        """Show only panoramas of `streetview` that were reached; the walk begins at `start`."""
        self._streetview = streetview
        self._stood: set[str] = set()
        self._near: set[str] = set()
        self.stand(start)

    def stand(self, pano_id: str) -> None:
        """Note that the walker has come to the panorama with this id."""
        self._stood.add(pano_id)
        self._near |= {pano_id, *(link.pano_id for link in self._streetview.panorama(pano_id).links)}

    def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
        """Raise `NotFound`, as a walker goes on foot."""
        del position, radius
        _refuse()

    def panorama(self, pano_id: str) -> Panorama:
        """Return a panorama where the walker stood, or that is linked from there.

        Raises:
            NoStreetView: it is neither.
        """
        if pano_id not in self._near:
            raise NoStreetView(f"panorama {pano_id!r} was not reached in this walk")
        return self._streetview.panorama(pano_id)

    def view(self, pano_id: str, camera: Camera) -> View:
        """Return the view of a camera at a panorama where the walker stood.

        Raises:
            NoStreetView: it did not.
            NoImagery: there is no picture.
        """
        if pano_id not in self._stood:
            raise NoStreetView(f"nobody stood at panorama {pano_id!r} in this walk")
        return self._streetview.view(pano_id, camera)


class ClosedPlaces:
    """Places of a city that refuse all questions."""

    def nearby(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        """Raise `NotFound`: places are closed to a walker."""
        del position, radius, types, whole
        _refuse()

    def search(self, query: str, near: LatLng | None = None) -> list[Place]:
        """Raise `NotFound`: places are closed to a walker."""
        del query, near
        _refuse()

    def details(self, place_id: str) -> Place:
        """Raise `NotFound`: places are closed to a walker."""
        del place_id
        _refuse()

    def photos(self, place_id: str, limit: int = 1) -> list[Image]:
        """Raise `NotFound`: places are closed to a walker."""
        del place_id, limit
        _refuse()


class ClosedMaps:
    """Maps of a city that refuse all questions."""

    def geocode(self, address: str) -> LatLng:
        """Raise `NotFound`: maps are closed to a walker."""
        del address
        _refuse()

    def route(self, stops: Sequence[LatLng], mode: TravelMode = "walking") -> Route:
        """Raise `NotFound`: maps are closed to a walker."""
        del stops, mode
        _refuse()

    def travel_times(
        self, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: TravelMode = "walking"
    ) -> Floats:
        """Raise `NotFound`: maps are closed to a walker."""
        del origins, destinations, mode
        _refuse()


def closed_city(city: City, streetview: WalkedStreetView) -> City:
    """Return the city as a walker may know it: only with the street view that was reached."""
    return replace(
        city,
        streetview=streetview,
        places=ClosedPlaces(),
        maps=ClosedMaps(),
        listings=None,
        truth=None,
        street_map=None,
        inventory=None,
        region=None,
        capabilities=replace(
            city.capabilities, panorama_page=None, fit_mover=None, has_free_lookup=False, has_reviews=False
        ),
    )


def _refuse() -> NoReturn:
    """Raise NotFound with the reason that the search has to go by sight."""
    raise NotFound(CLOSED)

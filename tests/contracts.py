"""What every provider of a city must keep to. A provider's test subclasses these and gives a `city`."""

import copy
import pickle

import numpy as np
import pytest
from shapely import box

from virl.errors import BadInput, NoRoute, NoStreetView, NotFound
from virl.geo import globe
from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.platform.city.streetview import Camera

ELSEWHERE = LatLng(-52.0, 71.0)


class StreetViewContract:
    def test_relocates_to_the_nearest_panorama(self, city: City) -> None:
        here = city.streetview.nearest(city.center, 1000)
        assert here is not None
        assert city.streetview.nearest(here.position) == here
        assert city.streetview.nearest(ELSEWHERE) is None
        closest = min(globe.distance(link_end(city, link.pano_id), city.center) for link in here.links)
        assert globe.distance(here.position, city.center) <= closest

    @pytest.mark.parametrize("radius", [0.0, -5.0, 1e6])
    def test_refuses_a_radius_out_of_range(self, city: City, radius: float) -> None:
        with pytest.raises(BadInput, match="radius"):
            city.streetview.nearest(city.center, radius)

    def test_links_lead_both_ways_and_tell_the_truth(self, city: City) -> None:
        here = city.streetview.nearest(city.center, 1000)
        assert here is not None
        assert here.links
        for link in here.links:
            there = city.streetview.panorama(link.pano_id)
            back = [one for one in there.links if one.pano_id == here.id]
            assert len(back) == 1
            assert link.distance == pytest.approx(globe.distance(here.position, there.position), rel=0.01)
            assert abs(globe.signed_turn(link.heading, globe.bearing(here.position, there.position))) < 1
            assert abs(globe.signed_turn(back[0].heading, link.heading + 180)) < 1

    def test_an_unknown_panorama_is_named(self, city: City) -> None:
        with pytest.raises(NoStreetView, match="not-there"):
            city.streetview.panorama("not-there")
        with pytest.raises(NoStreetView, match="not-there"):
            city.streetview.view("not-there", Camera(0))

    @pytest.mark.parametrize(
        "camera",
        [Camera(0), Camera(359.9, 10, 60), Camera(123, -90, 120, 320, 200), Camera(5, 90, 10, 64, 64)],
    )
    def test_a_view_is_as_the_camera_asks_and_always_the_same(self, city: City, camera: Camera) -> None:
        here = city.streetview.nearest(city.center, 1000)
        assert here is not None
        view = city.streetview.view(here.id, camera)
        assert view.pano_id == here.id
        assert view.camera == camera
        assert view.pixels.shape == (camera.height, camera.width, 3)
        assert view.pixels.dtype == np.uint8
        assert np.array_equal(view.pixels, city.streetview.view(here.id, camera).pixels)

    def test_a_view_is_pickled_and_copied_with_its_pixels(self, city: City) -> None:
        here = city.streetview.nearest(city.center, 1000)
        assert here is not None
        view = city.streetview.view(here.id, Camera(0, width=32, height=32))
        for same in (pickle.loads(pickle.dumps(view)), copy.copy(view), copy.deepcopy(view)):  # noqa: S301 - own
            assert (same.pano_id, same.camera) == (view.pano_id, view.camera)
            assert np.array_equal(same.pixels, view.pixels)


class PlacesContract:
    def test_nearby_places_come_nearest_first_within_the_radius(self, city: City) -> None:
        found = city.places.nearby(city.center, 300)
        assert found
        away = [globe.distance(city.center, place.position) for place in found]
        assert away == sorted(away)
        assert away[-1] <= 300

    def test_types_filter(self, city: City) -> None:
        cafes = city.places.nearby(city.center, 1000, ["cafe"])
        assert cafes
        assert all("cafe" in place.types for place in cafes)
        assert city.places.nearby(city.center, 1000, ["no_such_type"]) == []

    def test_details_hold_reviews_that_a_list_leaves_out(self, city: City) -> None:
        listed = city.places.nearby(city.center, 500)
        assert all(not place.reviews and not place.hours for place in listed)
        assert any(city.places.details(place.id).reviews for place in listed)

    def test_search_finds_a_place_by_its_name(self, city: City) -> None:
        place = city.places.nearby(city.center, 500)[0]
        assert place.id in [one.id for one in city.places.search(place.name, city.center)[:3]]

    def test_photos_are_pictures(self, city: City) -> None:
        place = city.places.nearby(city.center, 500, ["restaurant"])[0]
        assert city.places.photos(place.id, 0) == []
        for photo in city.places.photos(place.id, 2):
            assert photo.ndim == 3
            assert photo.dtype == np.uint8

    def test_an_unknown_place_is_named(self, city: City) -> None:
        for ask in (city.places.details, city.places.photos):
            with pytest.raises(NotFound, match="not-there"):
                ask("not-there")


class MapsContract:
    def test_geocodes_the_address_of_a_place(self, city: City) -> None:
        place = city.places.nearby(city.center, 300)[0]
        assert globe.distance(city.maps.geocode(place.address), place.position) < 30
        with pytest.raises(NotFound, match="Nowhere"):
            city.maps.geocode("1 Nowhere Boulevard")

    def test_a_route_is_as_long_as_its_path(self, city: City) -> None:
        goal = city.places.nearby(city.center, 400)[-1].position
        route = city.maps.route([city.center, goal])
        walked = sum(
            globe.distance(LatLng(*a), LatLng(*b)) for a, b in zip(route.path, route.path[1:], strict=False)
        )
        assert route.distance == pytest.approx(walked, rel=0.01)
        assert route.distance >= globe.distance(city.center, goal) * 0.999
        faster = city.maps.route([city.center, goal], "cycling")
        assert faster.duration < route.duration

    def test_travel_times_agree_with_routes(self, city: City) -> None:
        stops = [place.position for place in city.places.nearby(city.center, 400)[:3]]
        times = city.maps.travel_times([city.center], stops)
        assert times.shape == (1, 3)
        assert times[0] == pytest.approx([city.maps.route([city.center, stop]).duration for stop in stops])

    def test_off_the_map(self, city: City) -> None:
        with pytest.raises(NoRoute):
            city.maps.route([city.center, ELSEWHERE])
        with pytest.raises(BadInput):
            city.maps.route([city.center])


class ListingsContract:
    def test_rentals_within_area_price_and_bedrooms_cheapest_first(self, city: City) -> None:
        assert city.listings is not None
        lat, lng = city.center
        everywhere = box(lng - 0.1, lat - 0.1, lng + 0.1, lat + 0.1)
        found = city.listings.rentals(everywhere, (0, 1e6))
        assert found
        assert [home.price for home in found] == sorted(home.price for home in found)
        middle = found[len(found) // 2]
        some = city.listings.rentals(everywhere, (middle.price, middle.price), middle.bedrooms)
        assert middle in some
        assert city.listings.rentals(box(0, 0, 1, 1), (0, 1e6)) == []


def link_end(city: City, pano_id: str) -> LatLng:
    return city.streetview.panorama(pano_id).position

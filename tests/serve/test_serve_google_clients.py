"""Google's own clients of Places (New) and the Routes API, over REST."""

from collections.abc import Iterator
from typing import Any

import pytest

from virl.geo import globe
from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.serve.city_server import ServedCity

places_v1 = pytest.importorskip("google.maps.places_v1", reason="google-maps-places is not installed")
routing_v2 = pytest.importorskip("google.maps.routing_v2", reason="google-maps-routing is not installed")
from google.api_core import exceptions  # noqa: E402 - comes with the clients
from google.auth.credentials import AnonymousCredentials  # noqa: E402

MASK = "X-Goog-FieldMask"


def over_rest(kind: Any, transport: Any, server: ServedCity) -> Any:
    host = server.url.removeprefix("http://")
    return kind(transport=transport(credentials=AnonymousCredentials(), host=host, url_scheme="http"))


@pytest.fixture
def places(server: ServedCity) -> Iterator[Any]:
    from google.maps.places_v1.services.places.transports.rest import PlacesRestTransport

    with over_rest(places_v1.PlacesClient, PlacesRestTransport, server) as client:
        yield client


@pytest.fixture
def routes(server: ServedCity) -> Iterator[Any]:
    from google.maps.routing_v2.services.routes.transports.rest import RoutesRestTransport

    with over_rest(routing_v2.RoutesClient, RoutesRestTransport, server) as client:
        yield client


def with_mask(mask: str) -> list[tuple[str, str]]:
    return [(MASK, mask), ("X-Goog-Api-Key", "any")]


def lat_lng(position: LatLng) -> dict[str, float]:
    return {"latitude": position.lat, "longitude": position.lng}


def waypoint(position: LatLng) -> dict[str, Any]:
    return {"location": {"lat_lng": lat_lng(position)}}


class TestPlaces:
    def test_nearby_by_distance(self, places: Any, city: City) -> None:
        area = {"circle": {"center": lat_lng(city.center), "radius": 400.0}}
        request = {
            "location_restriction": area,
            "included_types": ["cafe"],
            "rank_preference": "DISTANCE",
            "max_result_count": 3,
        }
        found = places.search_nearby(request=request, metadata=with_mask("*"))
        truth = city.places.nearby(city.center, 400, ["cafe"])[:3]
        assert [place.id for place in found.places] == [place.id for place in truth]
        assert found.places[0].primary_type_display_name.text == "Cafe"
        assert {place.business_status.name for place in found.places} <= {"OPERATIONAL", "CLOSED_PERMANENTLY"}

    def test_text_search_of_a_price(self, places: Any, city: City) -> None:
        request = {
            "text_query": "restaurant",
            "price_levels": ["PRICE_LEVEL_MODERATE"],
            "rank_preference": "RELEVANCE",
            "min_rating": 1.5,
        }
        found = places.search_text(request=request, metadata=with_mask("places.priceLevel,places.rating"))
        assert {place.price_level.name for place in found.places} == {"PRICE_LEVEL_MODERATE"}
        assert all(place.rating >= 1.5 for place in found.places)

    @pytest.mark.slow
    def test_details_photo_and_autocompletion(self, places: Any, city: City) -> None:
        shop = next(place for place in city.places.nearby(city.center, 400) if "park" not in place.types)
        whole = places.get_place(request={"name": f"places/{shop.id}"}, metadata=with_mask("*"))
        assert (whole.display_name.text, whole.formatted_address) == (shop.name, shop.address)
        name = f"{whole.photos[0].name}/media"
        request = {"name": name, "max_width_px": 300, "skip_http_redirect": True}
        media = places.get_photo_media(request=request, metadata=with_mask("*"))
        assert media.photo_uri.startswith("http")
        request = {"input": shop.name[:-1], "location_bias": {"circle": {"center": lat_lng(shop.position)}}}
        request["location_bias"]["circle"]["radius"] = 500.0
        predicted = places.autocomplete_places(request=request, metadata=with_mask("*"))
        first = predicted.suggestions[0].place_prediction
        assert (first.place_id, first.structured_format.main_text.text) == (shop.id, shop.name)
        assert first.text.matches[0].end_offset > 0

    def test_errors_are_googles(self, places: Any, city: City) -> None:
        area = {"circle": {"center": lat_lng(city.center), "radius": 400.0}}
        request = {"location_restriction": area, "included_types": ["attraction"]}
        with pytest.raises(exceptions.BadRequest, match=r"Unsupported types: attraction\."):
            places.search_nearby(request=request, metadata=with_mask("*"))
        with pytest.raises(exceptions.NotFound):
            places.get_place(request={"name": "places/none"}, metadata=with_mask("*"))


class TestRoutes:
    def test_a_route(self, routes: Any, city: City) -> None:
        end = globe.destination(city.center, 60, 400)
        request = {
            "origin": waypoint(city.center),
            "destination": waypoint(end),
            "travel_mode": "WALK",
            "polyline_quality": "OVERVIEW",
            "polyline_encoding": "ENCODED_POLYLINE",
            "units": "METRIC",
        }
        (route,) = routes.compute_routes(request=request, metadata=with_mask("*")).routes
        truth = city.maps.route([city.center, end])
        assert route.distance_meters == pytest.approx(truth.distance, abs=1)
        assert route.duration.total_seconds() == pytest.approx(truth.duration, abs=1)
        assert route.route_labels == [routing_v2.RouteLabel.DEFAULT_ROUTE]
        steps = route.legs[0].steps
        assert steps[0].navigation_instruction.maneuver == routing_v2.Maneuver.DEPART
        assert {step.travel_mode.name for step in steps} == {"WALK"}

    def test_a_matrix_is_a_stream(self, routes: Any, city: City) -> None:
        ends = [globe.destination(city.center, turn, 300) for turn in (30, 200)]
        request = {
            "origins": [{"waypoint": waypoint(city.center)}],
            "destinations": [{"waypoint": waypoint(end)} for end in (*ends, LatLng(0, 0))],
            "travel_mode": "WALK",
        }
        elements = list(routes.compute_route_matrix(request=request, metadata=with_mask("*")))
        times = city.maps.travel_times([city.center], ends)[0].tolist()
        assert [one.duration.total_seconds() for one in elements[:2]] == [round(time) for time in times]
        assert [one.condition.name for one in elements] == ["ROUTE_EXISTS", "ROUTE_EXISTS", "ROUTE_NOT_FOUND"]

    @pytest.mark.parametrize("mode", ["DRIVE", "BICYCLE", "WALK", "TWO_WHEELER"])
    def test_every_mode_has_a_route(self, routes: Any, city: City, mode: str) -> None:
        ends = {
            "origin": waypoint(city.center),
            "destination": waypoint(globe.destination(city.center, 9, 200)),
        }
        found = routes.compute_routes(
            request={**ends, "travel_mode": mode}, metadata=with_mask("routes.legs")
        )
        assert found.routes[0].legs

"""Phone, web site, wheelchair and diet of a place, as both Places APIs write them."""

from pathlib import Path

import httpx
import pytest

from virl.platform.city.places import Place
from virl.platform.providers import open_city
from virl.serve.google import ServeOptions
from virl.serve.google.place_json import (
    has_step_free_entrance,
    international_phone,
    serves_vegetarian,
    website,
)
from virl.serve.google.server import serve_city

TOWN = """<osm version="0.6">
<node id="1" version="1" lat="60.17" lon="24.94"/><node id="2" version="1" lat="60.17" lon="24.943"/>
<node id="3" version="1" lat="60.1701" lon="24.941"><tag k="amenity" v="cafe"/><tag k="name" v="Kahvila"/>
<tag k="phone" v="+358 9 12;+358 9 34"/><tag k="website" v="kahvila.example"/>
<tag k="wheelchair" v="no"/><tag k="diet:vegetarian" v="yes"/></node>
<way id="1" version="1"><nd ref="1"/><nd ref="2"/><tag k="highway" v="residential"/></way></osm>"""
NOTICE = "© OpenStreetMap contributors; reviews, ratings, prices and homes to rent are invented"
FIELDS = "nationalPhoneNumber,internationalPhoneNumber,websiteUri,accessibilityOptions,servesVegetarianFood"
LEGACY = (
    "formatted_phone_number,international_phone_number,website,wheelchair_accessible_entrance,"
    "serves_vegetarian_food"
)


def test_the_facts_of_a_map_are_served(tmp_path: Path) -> None:
    (tmp_path / "town.osm").write_text(TOWN, encoding="utf-8")
    city = open_city(f"{tmp_path / 'town.osm'}@invented")
    [place] = city.places.nearby(city.center, 500)
    walk = {"origin": "60.17,24.9401", "destination": "60.17,24.9429", "mode": "walking"}
    with serve_city(city, ServeOptions()) as server, httpx.Client(base_url=server.url) as client:
        key = {"key": "AIza-test"}
        new = client.get(f"/v1/places/{place.id}", params=key | {"fields": FIELDS}).json()
        directions = client.get("/maps/api/directions/json", params=key | walk).json()
        credit = client.get(f"/v1/places/{place.id}", params=key | {"fields": "attributions"}).json()
        asked = key | {"place_id": place.id, "fields": LEGACY}
        legacy = client.get("/maps/api/place/details/json", params=asked).json()
    assert directions["routes"][0]["copyrights"] == "© OpenStreetMap contributors"
    assert credit == {"attributions": [{"provider": NOTICE}]}
    assert legacy["html_attributions"] == [NOTICE]
    assert new == {
        "nationalPhoneNumber": "+358 9 12",
        "internationalPhoneNumber": "+358 9 12",
        "websiteUri": "http://kahvila.example",
        "accessibilityOptions": {"wheelchairAccessibleEntrance": False},
        "servesVegetarianFood": True,
    }
    assert legacy["result"] == dict(
        zip(LEGACY.split(","), ["+358 9 12", "+358 9 12", "http://kahvila.example", False, True], strict=True)
    )


@pytest.mark.parametrize(
    ("facts", "phone", "page", "entrance", "vegetarian"),
    [
        ({}, None, None, None, None),
        ({"phone": "09 12", "website": "https://a.example"}, None, "https://a.example", None, None),
        ({"wheelchair": "limited", "diet": "vegetarian no"}, None, None, None, False),
        ({"wheelchair": "yes", "diet": "gluten free yes, vegan only"}, None, None, True, True),
        ({"diet": "gluten free yes"}, None, None, None, None),
    ],
)
def test_what_is_not_known_is_left_out(
    facts: dict[str, str], phone: str | None, page: str | None, entrance: object, vegetarian: object
) -> None:
    place = Place("p", "P", ("cafe",), (60.0, 24.0), facts=tuple(facts.items()))  # type: ignore[arg-type]
    assert (international_phone(place), website(place)) == (phone, page)
    assert (has_step_free_entrance(place), serves_vegetarian(place)) == (entrance, vegetarian)

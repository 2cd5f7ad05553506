"""What a geocoder answers, and what of it is believed."""

from typing import Any

import pytest
from scripted_google import ScriptedGoogle, client, good

from virl.errors import NotFound
from virl.geo.globe import LatLng
from virl.platform.providers.google.maps import geocode

TOKYO = (LatLng(35.6, 139.6), LatLng(35.8, 139.8))
NUMBER = [{"types": ["street_number"]}]


def found(lat: float, lng: float, name: str = "there", **more: Any) -> dict[str, Any]:
    return {"geometry": {"location": {"lat": lat, "lng": lng}}, "formatted_address": name, **more}


def asked(*results: dict[str, Any]) -> LatLng:
    with ScriptedGoogle([good({"status": "OK", "results": results})]) as server, client(server) as http:
        return geocode(http, "1 Main St", TOKYO)


def test_a_result_in_the_district_is_taken_before_one_elsewhere() -> None:
    assert asked(found(41.25, -38.75), found(35.7, 139.7)) == LatLng(35.7, 139.7)
    assert asked(found(35.6, 139.55)) == LatLng(35.6, 139.55)  # 4.5 km outside


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (
            found(41.25, -38.75, "Rome, Italy"),
            r"found 'Rome, Italy' at 41\.25.*, 1\d,\d\d\d km outside of the",
        ),
        (
            found(35.7, 139.7, "Tokyo, Japan", partial_match=True),
            r"found 'Tokyo, Japan' at 35\.7\d*, 139\.7\d*\)",
        ),
        (
            found(35.7, 140.0, "Chiba", partial_match=True, address_components=NUMBER),
            "km outside of the city",
        ),
    ],
)
def test_other_results_are_refused_and_named(result: dict[str, Any], said: str) -> None:
    with pytest.raises(NotFound, match=said):
        asked(result)


def test_a_part_of_an_address_is_enough_if_it_has_a_number() -> None:
    partly = found(35.7, 139.7, partial_match=True, address_components=NUMBER)
    assert asked(partly) == LatLng(35.7, 139.7)

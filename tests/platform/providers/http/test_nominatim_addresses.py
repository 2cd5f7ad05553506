"""Addresses of Nominatim in one line, as their countries write them."""

import pytest

from virl.osm.address_text import written_address

HOUSE = {"house_number": "98", "road": "Camp Street", "city": "Town"}


@pytest.mark.parametrize(
    ("parts", "written"),
    [
        (HOUSE | {"country_code": "us"}, "98 Camp Street, Town"),
        (HOUSE | {"country_code": "GB"}, "98 Camp Street, Town"),
        (HOUSE | {"country_code": "de"}, "Camp Street 98, Town"),
        (HOUSE, "Camp Street 98, Town"),
        (
            {"house_number": "1", "road": "Vegen", "quarter": "Mogre", "municipality": "Ullen"},
            "Vegen 1, Ullen",
        ),
        ({"house_number": "12", "village": "Lhota", "country_code": "cz"}, "Lhota 12"),
        ({"house_number": "3", "hamlet": "Au", "municipality": "Tal"}, "Au 3, Tal"),
        ({"neighbourhood": "Block 1", "city": "Ward", "country_code": "jp"}, "Block 1, Ward"),
        ({"road": "Long Street", "suburb": "East"}, "Long Street, East"),
        ({"town": "Alone"}, "Alone"),
        ({}, ""),
    ],
)
def test_an_address_is_written_as_its_country_does(parts: dict[str, str], written: str) -> None:
    assert written_address(parts) == written


def test_a_name_stands_for_what_has_neither_street_nor_number() -> None:
    assert written_address({"suburb": "East", "city": "Town"}, "Park") == "Park, Town"

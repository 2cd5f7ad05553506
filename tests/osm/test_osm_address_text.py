import pytest

from virl.osm.places import address


@pytest.mark.parametrize(
    ("tags", "written"),
    [
        ({"addr:street": "Mechelininkatu", "addr:housenumber": "4 A", "addr:city": "Helsinki"},
         "Mechelininkatu 4 A, Helsinki"),
        ({"addr:place": "Hakaniemi", "addr:housenumber": "3"}, "Hakaniemi 3"),
        ({"addr:housenumber": "24", "addr:city": "Helsinki"}, "Helsinki"),
        ({}, ""),
    ],
)  # fmt: skip
def test_a_number_without_a_street_is_no_address(tags: dict[str, str], written: str) -> None:
    assert address(tags) == written

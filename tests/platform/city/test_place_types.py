"""Which sort a place counts as."""

import pytest

from virl.platform.city.place_types import sort_of
from virl.platform.providers.google.places import normal_types
from virl.serve.google.shown_places import TYPES


@pytest.mark.parametrize(
    ("types", "sort"),
    [
        (("restaurant",), "restaurant"),
        (("ramen_restaurant", "restaurant", "food"), "restaurant"),
        (("store", "book_store"), "book_store"),
        (("gift_shop", "store"), "store"),
        (("lodging", "restaurant"), "lodging"),
        (("cultural_center",), "cultural_center"),
        ((), ""),
    ],
)
def test_the_sort(types: tuple[str, ...], sort: str) -> None:
    assert sort_of(types) == sort


def test_a_finer_type_of_google_does_not_change_the_sort() -> None:
    schools = {"primary_school", "secondary_school"}  # sorts of their own
    for coarse, finer in TYPES.fine.items():
        for fine in set(finer) - schools:
            assert sort_of(normal_types((fine, coarse), fine)) == coarse, fine

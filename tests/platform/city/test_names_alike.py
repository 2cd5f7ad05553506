"""How alike two names are."""

import pytest

from virl.platform.city.names import is_shortened, name_ratio


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Fifth Avenue Bakery", "5th Ave. Bakery"),
        ("First Bank", "1st Bank"),
        ("Twelfth Street Books", "12TH ST BOOKS"),
        ("St. Anne's Chapel", "Saint Anne\u2019s Chapel"),
        ("Chapel St.", "Chapel Street"),
        ("J. P. Morgan", "JP Morgan"),
        ("J.P. Morgan & Co.", "JP Morgan and Company"),
        ("7-Eleven", "Seven Eleven"),
        ("Hauptstr. 12a", "Hauptstraße 12A"),
        ("Café Noël", "CAFE NOEL"),
        ("Platform 3", "platform 03"),
    ],
)
def test_one_name_is_written_in_many_ways(one: str, other: str) -> None:
    assert name_ratio(one, other) == name_ratio(other, one) == 100


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Platform 3", "Platform 13"),
        ("Pier 39", "Pier 38"),
        ("Fifth Street Laundromat", "Sixth Street Laundromat"),
        ("5th Street Laundromat", "Fourth St. Laundromat"),
        ("Hauptstraße 12a", "Hauptstraße 12b"),
        ("Terminal One", "Terminal 2"),
    ],
)
def test_names_that_differ_in_a_number_are_not_alike(one: str, other: str) -> None:
    assert name_ratio(one, other) == name_ratio(other, one) == 0


def test_a_slip_of_a_letter_or_a_number_that_one_leaves_out_is_forgiven() -> None:
    assert name_ratio("Cafe 1900 Central", "Cafe Central") > 80
    assert name_ratio("F1RST BANK", "First Bank") >= 90


@pytest.mark.parametrize(
    ("listed", "name", "is_so"),
    [
        ("Corner Bakery", "The Corner Bakery & Café", True),
        ("St. Anne's", "Saint Anne's Chapel", True),
        ("Bakery", "The Corner Bakery & Café", False),
        ("Corner Bank", "The Corner Bakery & Café", False),
        ("Harbor Gate 3", "Harbor Gate 13 West", False),
    ],
)
def test_a_listing_shortens_a_name(listed: str, name: str, is_so: bool) -> None:
    assert is_shortened(listed, name) is is_so

"""What is written as an address."""

import pytest

from virl.platform.city.locate import BLOCKS, begins_with_house, is_address

JAPANESE = (
    "1-2-3 Ginza",
    "2-11 Chuo, Tokyo",
    "1 Chome-2-3 Ginza",
    "1-chome Ginza",
    "Ginza 1-2-3",
    "Ginza 1-chome 2-3",
    "銀座1丁目2-3",
    "銀座１丁目２番３号",
    "東京都中央区銀座一丁目2番3号",
    "銀座1-2-3",
)


@pytest.mark.parametrize(
    "text",
    ["12 Mill Lane", "3b Elm Walk", "Hauptstraße 12a", "Via Roma 5/7", "Kalevankatu 14 B 3", *JAPANESE],
)
def test_a_house_number_makes_an_address(text: str) -> None:
    assert is_address(text)


@pytest.mark.parametrize("text", ["Corner Bakery", "5th Avenue", "7-Eleven", "21st Century Books", "bank"])
def test_what_has_none_is_no_address(text: str) -> None:
    assert not is_address(text)
    assert not begins_with_house(text)


@pytest.mark.parametrize("text", JAPANESE)
def test_japanese_addresses_are_found_whole_in_a_sentence(text: str) -> None:
    found = [match[0] for match in BLOCKS.finditer(f"Then, at {text}; buy bread")]
    assert found == [text]


@pytest.mark.parametrize("text", ["May 5-7", "Call 03-1234 now", "Open 9-17", "a 50-50 chance", "銀座へ行く"])
def test_other_numbers_are_none(text: str) -> None:
    assert not BLOCKS.search(text)

"""Starts that are given as a link to Google Maps."""

import pytest

from virl.agent.character import Point, parse_start
from virl.errors import BadInput

PLACE = "https://www.google.com/maps/place/Caf%C3%A9/@52.1,5.2,17z/data=!3m1!4b1!4m6!3m5!1s0x0!8m2!3d52.3!4d-5.4!16s"


@pytest.mark.parametrize(
    ("link", "start"),
    [
        (PLACE, Point(lat=52.3, lng=-5.4)),
        (PLACE.replace("!", "%21"), Point(lat=52.3, lng=-5.4)),
        ("https://maps.google.com/?q=52.3,-5.4", Point(lat=52.3, lng=-5.4)),
        ("https://www.google.de/maps?q=loc:52.3,-5.4&z=17", Point(lat=52.3, lng=-5.4)),
        ("https://www.google.com/maps/search/?api=1&query=52.3%2C-5.4", Point(lat=52.3, lng=-5.4)),
        ("https://www.google.com/maps/@52.3,-5.4,17z", Point(lat=52.3, lng=-5.4)),
        ("https://maps.google.co.uk/maps?q=1+Main+Street", "1 Main Street"),
        ("https://example.org/@1,2", "https://example.org/@1,2"),
    ],
)
def test_a_link_to_google_maps_is_a_start(link: str, start: str | Point) -> None:
    assert parse_start(link) == start


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("https://maps.app.goo.gl/AbC123", "a shortened link: open it"),
        ("https://www.google.com/maps", "holds no position"),
        ("https://www.google.com/maps/@95,2,17z", "start 'https:"),
    ],
)
def test_a_link_without_a_position_is_refused_in_one_line(link: str, words: str) -> None:
    with pytest.raises(BadInput, match=words) as refused:
        parse_start(link)
    assert "\n" not in str(refused.value)

"""Encoded polylines from a reply: decoded, or refused before they cost anything."""

import pytest

from virl.geo.polyline import MOST_LETTERS, decode_polyline, encode_polyline


def test_a_polyline_of_google_is_decoded_and_encoded() -> None:
    text = "_p~iF~ps|U_ulLnnqC_mqNvxq`@"  # from Google's documentation of the format
    path = decode_polyline(text)
    assert path == ((38.5, -120.2), (40.7, -120.95), (43.252, -126.453))
    assert encode_polyline(path) == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("~" * 100_000, "too large"),
        ("_p~iF~ps|U" * 10, "leaves the Earth at its position 2"),
        ("?" * (MOST_LETTERS + 1), "more than 1,000,000 letters"),
        ("?", "within a position"),
        ("_", "within a number"),
        ("\x1b\x1b", "no letter"),
    ],
)
def test_what_is_none_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        decode_polyline(text)

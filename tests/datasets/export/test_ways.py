"""What ways are called, and how headings become whole degrees."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from virl.datasets.export.town import Town, Way, ends_here, ways_out, whole_degrees
from virl.errors import BadInput
from virl.geo.globe import LatLng, destination, signed_turn
from virl.platform.city.graph import build_graph

HERE = LatLng(10.0, 20.0)
ARRIVAL = 350.0  # so that turns wrap around north


def corner(*turns: float) -> Town:
    """Node 0 is come from, 1 is the crossing, 2 and on are where its ways lead, each so far to the right."""
    headings = [(ARRIVAL + turn) % 360 for turn in turns]
    places = [
        destination(HERE, (ARRIVAL + 180) % 360, 10),
        HERE,
        *(destination(HERE, h, 10) for h in headings),
    ]
    lat, lng = zip(*places, strict=True)
    count = len(places)
    graph = build_graph(
        [str(number) for number in range(count)],
        lat,
        lng,
        [0, *[1] * (len(turns) + 1)],
        [1, 0, *range(2, count)],
        [ARRIVAL, (ARRIVAL + 180) % 360, *headings],
    )
    none = np.zeros(count, dtype=bool)
    ways = ({1: ARRIVAL}, {0: (ARRIVAL + 180) % 360} | dict(enumerate(headings, 2)), *({} for _ in turns))
    return Town(graph, np.zeros((count, 2)), none, ~none, ~none, none, (), ((),) * count, ways, ({},) * count)


def words(*turns: float) -> list[Way | None]:
    return list(ways_out(corner(*turns), 0, 1).values())


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ((-90, 0, 90), ["left", "straight", "right"]),
        ((-75, 25, 100), ["left", "straight", "right"]),
        ((-90, 5), ["left", "straight"]),
        ((-95, 88), ["left", "right"]),
        ((-20, 20), ["slight left", "slight right"]),
        ((0, 45), ["straight", "slight right"]),
        ((10, 150), ["straight", "sharp right"]),
        ((-140, -60, 0, 90), ["sharp left", "slight left", "straight", "right"]),
        ((-100, -80, 0), [None, None, "straight"]),
        ((-120, -90, -45, 0), [None, None, None, "straight"]),
        ((0, 175), ["straight", None]),
        ((0, 15, 90), [None, "slight right", None]),
    ],
)
def test_ways_are_called_as_one_who_arrives_would(
    turns: tuple[float, ...], expected: list[str | None]
) -> None:
    assert words(*turns) == expected


@given(st.lists(st.integers(-179, 180), min_size=1, max_size=6, unique=True))
def test_no_two_ways_have_one_name(turns: list[int]) -> None:
    named = [word for word in words(*turns) if word]
    assert len(set(named)) == len(named)


@given(st.lists(st.integers(-179, 179), min_size=1, max_size=6, unique=True))
def test_a_mirror_swaps_left_and_right(turns: list[int]) -> None:
    swap = str.maketrans({"l": "r", "r": "l"})
    mirrored = words(*(-turn for turn in turns))
    for word, other in zip(words(*turns), mirrored, strict=True):
        first, second = (word or "").split()[-1:], (other or "").split()[-1:]
        assert [one[0].translate(swap) for one in first if one != "straight"] == [
            one[0] for one in second if one != "straight"
        ]


def test_a_street_ends_where_ways_go_left_and_right_only() -> None:
    assert ends_here(ways_out(corner(-90, 95), 0, 1))
    assert not ends_here(ways_out(corner(-90, 0, 95), 0, 1))
    assert not ends_here(ways_out(corner(-90, 0), 0, 1))
    assert not ends_here(ways_out(corner(-90, 40, 95), 0, 1))


def test_headings_that_would_be_alike_are_nudged_apart_in_their_order() -> None:
    assert whole_degrees([10.1, 10.3, 10.2]) == [9, 11, 10]
    assert whole_degrees([359.8, 0.3]) == [0, 1]
    assert whole_degrees([359.6, 359.9, 0.0]) == [359, 0, 1]
    assert whole_degrees([90.2, 180.7, 270.4]) == [90, 181, 270]
    with pytest.raises(BadInput, match="360"):
        whole_degrees([0.0] * 361)


@given(st.lists(st.floats(0, 359.99), max_size=12))
def test_whole_degrees_are_free_and_near(headings: list[float]) -> None:
    degrees = whole_degrees(headings)
    assert len(set(degrees)) == len(headings)
    assert all(0 <= degree < 360 for degree in degrees)
    assert all(
        abs(signed_turn(heading, degree)) <= len(headings)
        for heading, degree in zip(headings, degrees, strict=True)
    )

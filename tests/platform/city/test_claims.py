"""Claims beside the truth of a made town."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from virl.geo.globe import destination, distance
from virl.platform.city.city import City
from virl.platform.city.claims import (
    FAR_SIGHT_M,
    IN_SIGHT_M,
    AbsenceClaim,
    ArrivalClaim,
    CheckedClaim,
    Claim,
    CountClaim,
    HomeClaim,
    PlaceClaim,
    check_claims,
)
from virl.platform.city.places import Place, moment_in_words


def checked(city: City, claim: Claim) -> CheckedClaim:
    truth = check_claims(city, [claim])
    assert truth
    assert "Known because Virlton is a made town" in truth.known
    [one] = truth.checked
    return one


@pytest.fixture(scope="module")
def hot(virlton: City) -> Place:
    """A restaurant whose food is spicy."""
    assert virlton.truth
    assert virlton.inventory
    known = virlton.truth
    places = virlton.inventory.places()
    return next(one for one in places if "restaurant" in one.types and known.attributes(one.id).get("spicy"))


def test_a_place_is_held_against_kind_hours_and_hidden_attributes(virlton: City, hot: Place) -> None:
    opens = hot.hours[0]
    claim = PlaceClaim(hot.id, hot.name, ("restaurant",), {"spicy": True}, (opens.day, opens.opens))
    assert checked(virlton, claim).holds is True
    assert f"open on {moment_in_words(opens.day, opens.opens)}" in checked(virlton, claim).true
    assert checked(virlton, replace(claim, wishes={"spicy": False})).holds is False
    assert checked(virlton, replace(claim, types=("pharmacy",))).true.startswith("does not fit (no pharmacy")
    assert checked(virlton, replace(claim, at=(opens.day, opens.opens - 1))).holds is False
    unknown = checked(virlton, replace(claim, wishes={"shady": True}))
    assert (unknown.holds, "shady: not known" in unknown.true) == (None, True)
    assert checked(virlton, replace(claim, place_id="place-none")).holds is False


def test_an_arrival_is_measured_to_the_nearest_place_of_the_name(virlton: City, hot: Place) -> None:
    there, away = hot.position, destination(hot.position, 90.0, 900.0)
    at = hot.position
    assert checked(virlton, ArrivalClaim(hot.name, there)).holds is True
    assert checked(virlton, ArrivalClaim(hot.name, there, arrived=False)).holds is False
    assert checked(virlton, ArrivalClaim("91 Station Street", away, arrived=False, at=at)).holds is True
    assert checked(virlton, ArrivalClaim("No Such Shop", there)).holds is False
    assert checked(virlton, ArrivalClaim("restaurant", there, types=("restaurant",))).holds is True


@pytest.mark.parametrize(("beside", "holds"), [((), True), (("book_store",), True), (("bank",), False)])
def test_what_is_claimed_to_stand_beside_a_place_is_looked_for(
    virlton: City, beside: tuple[str, ...], holds: bool
) -> None:
    assert virlton.inventory
    cafe = next(one for one in virlton.inventory.places() if one.name == "Caffè del Cortile")
    claim = ArrivalClaim("cafe", cafe.position, types=("cafe",), beside=beside)
    assert checked(virlton, claim).holds is holds


def test_counts_stand_beside_what_exists_and_what_is_right(virlton: City) -> None:
    assert virlton.truth
    bins = virlton.truth.things({"trash bin"})
    here, wrong = bins[0].position, destination(bins[0].position, 0.0, 12.0)
    one = checked(virlton, CountClaim("trash bin", (here, here, wrong), (here,)))
    assert (one.numbers["reported"], one.holds) == (3, False)
    assert 1 <= one.numbers["right"] <= one.numbers["exist"] + 1
    assert one.right is not None
    assert len(one.right) == one.numbers["right"]
    assert {0, 1} & {*one.right}
    assert one.claimed == "3 trash bins"
    far = destination(here, 180.0, IN_SIGHT_M + 5)
    beyond = checked(virlton, CountClaim("trash bin", (here,), (far,)))
    assert beyond.numbers["exist"] >= beyond.numbers["right"] == 1
    assert f"farther than {IN_SIGHT_M:.0f} m from the walk" in beyond.true
    assert checked(virlton, CountClaim("for rent sign", (), (here,))).holds is None
    assert checked(virlton, CountClaim("trash bin", (), (here,), at_once=0)).holds is False
    there = sum(distance(one.position, here) <= FAR_SIGHT_M for one in bins)
    assert there > one.numbers["exist"]
    for at_once in (there, there + 1):
        claim = CountClaim("trash bin", (), (here,), at_once=at_once)
        assert checked(virlton, claim).holds is (at_once == there)


def test_a_home_is_held_against_true_walks(virlton: City, hot: Place) -> None:
    claim = HomeClaim("1 Elm Walk", hot.position, {"restaurant": 0.0}, 800.0)
    assert checked(virlton, claim).holds is True
    assert checked(virlton, replace(claim, minutes={"restaurant": 9.0})).holds is False
    assert checked(virlton, replace(claim, minutes={"restaurant": None})).holds is False


def test_minutes_to_a_place_are_rounded_as_in_the_table_of_homes(virlton: City, hot: Place) -> None:
    # 1.47 minutes: 1.5 in the notes, 2 in the table.
    maps = SimpleNamespace(travel_times=lambda starts, ends: np.full((len(starts), len(ends)), 88.0))
    claim = HomeClaim("1 Elm Walk", hot.position, {"restaurant": 1.5}, 800.0)
    assert checked(replace(virlton, maps=maps), claim).true == "restaurant 2 min"


def test_nothing_is_told_where_the_truth_is_not_known(virlton: City, hot: Place) -> None:
    claims = [ArrivalClaim(hot.name, hot.position)]
    assert check_claims(replace(virlton, truth=None), claims) is None


def test_a_run_without_a_claim_says_so(virlton: City) -> None:
    told = check_claims(virlton, [])
    assert told is not None
    assert (told.checked, told.line) == ((), "The run ended without a claim")


@pytest.mark.parametrize(
    ("wishes", "stood", "holds", "told"),
    [
        ({"spicy": True}, True, False, "1 of the places within 25 m of the walk fit"),
        ({"spicy": False}, True, True, "0 of the places"),
        (
            {"spicy": True, "sushi": True},
            True,
            None,
            "0 of the places within 25 m of the walk fit, and 1 more may",
        ),
        ({"spicy": True}, False, True, "0 of the places"),
    ],
)
def test_who_chose_no_place_is_told_how_many_fit(
    virlton: City, hot: Place, wishes: dict[str, bool], stood: bool, holds: bool | None, told: str
) -> None:
    alone = replace(virlton, inventory=SimpleNamespace(places=lambda: [hot]))
    walked = (hot.position,) if stood else ()
    one = checked(alone, AbsenceClaim(walked, ("restaurant",), wishes))
    assert (one.holds, told in one.true) == (holds, True)

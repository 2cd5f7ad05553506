"""What the check of Mira's picture takes for a corner, a row of shops, and a reason."""

from dataclasses import replace

import pytest
from made_life import made_character, virlton

from benchmarks.agents.tool_life import ToolLife, shops_of, signs_in
from benchmarks.agents.tool_truth import OF_PICTURE, mira
from virl.geo.globe import LatLng
from virl.journal.records import CostRecord, NoteRecord, PoseRecord, Result, StepRecord
from virl.platform.city.city import City
from virl.platform.city.streetview import Camera


@pytest.fixture(scope="module")
def city() -> City:
    return virlton()


@pytest.fixture(scope="module")
def shot(city: City) -> tuple[str, float]:
    """A crossing and a direction in which a picture has all that she likes."""
    assert city.street_map
    assert city.truth
    for pano in city.street_map.panorama_ids():
        if city.streetview.panorama(pano).is_crossing:
            for heading in range(0, 360, 30):
                camera = Camera(float(heading), 0.0, 60.0)
                signs = signs_in(city, pano, camera)
                whole = any(one.visible_fraction >= 0.9 and one.label for one in signs)
                if len(shops_of(signs)) > 1 and whole and city.truth.visible(pano, camera, 1500, ["tree"]):
                    return pano, float(heading)
    raise AssertionError("no corner has all that she likes")


def life(city: City, panos: list[str], answer: str, looked: list[str] | None = None) -> ToolLife:
    first = city.streetview.panorama(panos[0]).position
    steps = [
        StepRecord(seq=at, step=at, pose=pose_at(pano, first), distance_m=10.0, decided="On.")
        for at, pano in enumerate(panos)
    ]
    notes = [
        NoteRecord(seq=at, topic="tool", key=str(at), text="", data=looking(pano))
        for at, pano in enumerate(dict.fromkeys(panos) if looked is None else looked)
    ]
    result = Result(
        agent="mira", city="virlton", status="finished", steps=len(panos) - 1, distance_m=10.0, reason="So.",
        answer={"answer": answer}, cost=CostRecord(), versions={},
    )  # fmt: skip
    return ToolLife(city, made_character(), first, result, steps, notes)


def pose_at(pano: str, spot: LatLng) -> PoseRecord:
    return PoseRecord(pano_id=pano, heading=0.0, lat=spot.lat, lng=spot.lng)


def looking(pano: str, **args: str) -> dict[str, object]:
    return {"name": "read_signs", "failed": False, "args": args, "standing": {"pano_id": pano}}


def missed(one: ToolLife) -> set[str]:
    return {name for name, met in mira(one).items() if not met}


def told(city: City, shot: tuple[str, float], why: str) -> str:
    pano, heading = shot
    spot = city.streetview.panorama(pano).position
    return f"Stand at {spot}; point at {heading} degrees; 60 degrees wide. {why}"


@pytest.fixture(scope="module")
def away(city: City) -> list[str]:
    assert city.street_map
    return list(city.street_map.panorama_ids()[:30:15])


@pytest.mark.slow
def test_a_picture_that_has_all_is_met(city: City, shot: tuple[str, float], away: list[str]) -> None:
    assert not missed(life(city, [*away, shot[0]], told(city, shot, "A row of shops, and a tree.")))


@pytest.mark.parametrize("why", ["It is pretty.", "A bench stands there, and a tree."])
def test_a_reason_that_does_not_hold_is_none(
    city: City, shot: tuple[str, float], away: list[str], why: str
) -> None:
    assert missed(life(city, [*away, shot[0]], told(city, shot, why))) == {"why"}


def test_a_place_that_is_passed_again_is_gone_back_to(
    city: City, shot: tuple[str, float], away: list[str]
) -> None:
    answer = told(city, shot, "A row of shops.")
    assert missed(life(city, [*away, away[0], shot[0]], answer)) == {"goes back to none"}


def test_the_picture_is_of_a_place_that_was_looked_at_all_around(
    city: City, shot: tuple[str, float], away: list[str]
) -> None:
    lived = life(city, [*away, shot[0]], told(city, shot, "A row of shops."), looked=away)
    once = NoteRecord(seq=9, topic="tool", key="9", text="", data=looking(shot[0], direction="north"))
    lived = replace(lived, calls=[*lived.calls, once])
    assert missed(lived) == {"several places", "of one of the places"}


def test_two_pictures_are_not_one(city: City, shot: tuple[str, float], away: list[str]) -> None:
    answer = told(city, shot, "A row of shops.")
    lived = life(city, [*away, shot[0]], f"{answer} Or stand at 41.2501, -38.7501.")
    assert missed(lived) == {"one picture", "of one of the places", *OF_PICTURE}

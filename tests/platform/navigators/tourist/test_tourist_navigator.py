"""The tourist: one action a step, only possible ones, lost when nothing fits, and no idea where it goes."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import get_type_hints

import pytest
from made_streets import MadeStreetView, plus_sign

from virl.geo.globe import LatLng
from virl.money.ledger import Ledger
from virl.platform.city.city import City
from virl.platform.city.maps import Maps, Route
from virl.platform.city.outcome import Outcome
from virl.platform.city.places import Place, Places
from virl.platform.city.streetview import Panorama, Pose
from virl.platform.movers.base import LinksMover
from virl.platform.navigators.tourist.navigator import TouristNavigator, split_sentences
from virl.platform.navigators.tourist.rules import LandmarkNames, WalkAction
from virl.platform.navigators.tourist.spotting import LandmarkSighting
from virl.platform.navigators.tourist.ways import HonestHints, PaperHints


class Scripted:
    """Answers with the actions of a list, and keeps what it was asked."""

    name = "scripted"

    def __init__(self, *actions: str) -> None:
        self._actions = list(actions)
        self.asked: list[dict[str, object]] = []
        self.ledger = Ledger()

    def with_own_ledger(self) -> "Scripted":
        return self

    def ask(self, prompt, *, images=(), **inputs):
        if prompt.name == "movement/tourist-landmarks":
            return LandmarkNames(names=("Moon Bakery",))
        self.asked.append(inputs)
        action, _, direction = self._actions.pop(0).partition(" ")
        reply = {"action": action, "direction": direction or None, "sentence": 1, "reason": "as scripted"}
        return prompt.reply.model_validate(reply, context=inputs)


class Sees:
    """A landmark that is seen from some panoramas, straight to the east."""

    name = "made"

    def __init__(self, *where: str) -> None:
        self._where = where
        self.thorough: list[bool] = []

    def spot(self, pose: Pose, names: Sequence[str], *, thorough: bool) -> list[LandmarkSighting]:
        self.thorough.append(thorough)
        return [LandmarkSighting(name, 90.0, 1.0) for name in names if pose.pano_id in self._where]


def navigator(streets: MadeStreetView, mind: Scripted, **more: object) -> TouristNavigator:
    more = {"spotter": Sees()} | more
    return TouristNavigator(streets, LinksMover(streets), mind, instruction="Go. Stop.", **more)


def walked(tourist: TouristNavigator, start: Pose) -> list[str]:
    return walked_to_an_end(tourist, start)[0]


def walked_to_an_end(tourist: TouristNavigator, start: Pose) -> tuple[list[str], Outcome | None]:
    way = [(step.pose.pano_id, step.choice.outcome) for step in tourist.walk(start)]
    assert [ended for _, ended in way[:-1]] == [None] * (len(way) - 1)
    return [pano_id for pano_id, _ in way], way[-1][1]


def test_it_walks_on_turns_and_stops() -> None:
    tourist = navigator(plus_sign(), Scripted("forward", "turn left", "forward", "stop"))
    way, ended = walked_to_an_end(tourist, Pose("s1", 0.0))
    assert (way, ended) == (["s1", "c", "w1", "w2"], Outcome("arrived", "as scripted"))
    assert [entry.act.words for entry in tourist.transcript] == ["forward", "turn left", "forward", "stop"]


def test_it_may_be_told_by_the_compass() -> None:
    tourist = navigator(plus_sign(), Scripted("forward", "turn west", "stop"))
    assert walked(tourist, Pose("e1", 270.0)) == ["e1", "c", "w1"]
    assert walked(navigator(plus_sign(), Scripted("turn north", "stop")), Pose("c", 135.0)) == ["c", "n1"]


def test_what_it_observes_is_as_it_faces() -> None:
    mind = Scripted("forward", "forward", "stop")
    walked(navigator(plus_sign(), mind, spotter=Sees("c")), Pose("s1", 0.0))
    at_start, at_crossing, beyond = (one["here"] for one in mind.asked)
    assert at_start["ways"] == ["front", "rear"]
    assert at_crossing["crossing"] == 4
    assert at_crossing["ways"] == ["front", "right", "rear", "left"]
    assert at_crossing["seen"] == [{"name": "Moon Bakery", "where": "right"}]
    assert (beyond["crossing"], beyond["ways"], beyond["seen"]) == (None, [], [])
    assert [step["did"] for step in mind.asked[2]["walk"]] == ["forward", "forward"]


def test_an_action_that_cannot_be_done_is_refused_asked_again_and_recorded() -> None:
    mind = Scripted("turn left", "forward", "stop")
    tourist = navigator(plus_sign(), mind)
    assert walked(tourist, Pose("s2", 0.0)) == ["s2", "s1"]
    assert "cannot be done: from here ways lead front, rear" in mind.asked[1]["refused"][0]
    assert len(tourist.transcript[0].act.refused) == 1


def test_it_is_lost_when_no_action_can_be_done() -> None:
    tourist = navigator(plus_sign(), Scripted("forward", "turn left", "turn left"))
    way, ended = walked_to_an_end(tourist, Pose("n3", 0.0))
    assert (way, ended and ended.kind) == (["n3"], "lost")
    assert len(tourist.transcript[0].act.refused) == 3


def test_it_notices_that_it_goes_in_circles() -> None:
    corners = {"a": (0, 0), "b": (10, 0), "c": (20, 5), "d": (10, 15), "e": (0, 10)}
    block = MadeStreetView(corners, ["a-b", "b-c", "c-d", "d-e", "e-a"])
    tourist = navigator(block, Scripted(*["forward"] * 99), max_steps=99)
    way, ended = walked_to_an_end(tourist, Pose("a", 90.0))
    assert len(way) == 12, "it began facing otherwise; two rounds more, then it knows"
    assert ended is not None
    assert "circles" in ended.reason


def test_it_notices_that_it_only_turns() -> None:
    tourist = navigator(plus_sign(), Scripted(*["turn rear"] * 9))
    way, ended = walked_to_an_end(tourist, Pose("c", 0.0))
    assert len(way) <= 6
    assert ended is not None
    assert ended.kind == "lost"


def test_it_gives_up_after_its_steps() -> None:
    tourist = navigator(plus_sign(9), Scripted(*["forward"] * 9), max_steps=3)
    way, ended = walked_to_an_end(tourist, Pose("s9", 0.0))
    assert way == ["s9", "s8", "s7", "s6"]
    assert ended is not None
    assert "3 steps" in ended.reason


def test_a_walk_can_be_gone_on_with() -> None:
    whole = navigator(plus_sign(), Scripted("forward", "forward", "turn right", "stop"))
    poses = [(step.pose, step.choice) for step in whole.walk(Pose("s2", 0.0))]
    done = list(zip([pose for pose, _ in poses[:2]], whole.transcript[:2], strict=True))
    mind = Scripted("turn right", "stop")
    rest = navigator(plus_sign(), mind, landmarks=("Moon Bakery",))
    steps = [(step.index, step.pose) for step in rest.walk(poses[2][0], done) if step.choice]
    assert steps == [(2, poses[2][0]), (3, poses[3][0])]
    assert [step["did"] for step in mind.asked[0]["walk"]] == ["forward", "forward"]


def test_ahead_is_looked_at_at_the_start_at_crossings_and_at_dead_ends() -> None:
    sees = Sees()
    walked(navigator(plus_sign(), Scripted(*["forward"] * 5, "stop"), spotter=sees), Pose("s2", 0.0))
    assert sees.thorough == [True, False, True, False, False, True]


def test_the_honest_tourist_is_given_nothing_that_tells_where_to_go() -> None:
    tells = (LatLng, City, Maps, Places, Place, Route)
    for one in (TouristNavigator, HonestHints):
        hints = get_type_hints(one)
        names = {field.name for field in fields(one)}
        assert not [name for name in names if any(kind.__name__ in str(hints[name]) for kind in tells)]
    assert not fields(HonestHints), "honest hints know nothing at all"


class Nowhere(MadeStreetView):
    """The same streets, with every panorama said to be at the same place."""

    def panorama(self, pano_id: str) -> Panorama:
        return replace(super().panorama(pano_id), position=LatLng(0.0, 0.0))


def test_the_honest_tourist_goes_the_same_way_wherever_the_panoramas_are() -> None:
    there, nowhere = plus_sign(), plus_sign()
    nowhere.__class__ = Nowhere
    minds = [Scripted("forward", "turn right", "stop") for _ in range(2)]
    ways = [
        walked(navigator(one, mind), Pose("s1", 0.0))
        for one, mind in zip((there, nowhere), minds, strict=True)
    ]
    assert ways[0] == ways[1]
    assert minds[0].asked == minds[1].asked


def test_paper_mode_tells_of_crossings_at_key_positions_alone() -> None:
    streets = plus_sign()
    crossing = streets.panorama("c")
    assert HonestHints().tells(crossing)
    assert PaperHints([crossing.position]).tells(crossing)
    assert not PaperHints([streets.panorama("n2").position]).tells(crossing)
    assert PaperHints(()).tells(crossing), "a route without turns leaves all crossings to be told of"
    assert not PaperHints([streets.panorama("n1").position]).tells(streets.panorama("n1"))


def test_directions_are_cut_into_sentences_not_into_saints() -> None:
    text = 'Turn left.  Pass "St. Mary\'s"; then go on! Stop at "No. 5".'
    assert split_sentences(text) == ("Turn left.", 'Pass "St. Mary\'s";', "then go on!", 'Stop at "No. 5".')
    assert split_sentences("  ") == ("",)


def test_replies_name_a_direction_with_a_turn_and_with_a_turn_alone() -> None:
    assert WalkAction(action="turn", direction="left", sentence=1, reason="r").direction == "left"
    for wrong in ({"action": "turn"}, {"action": "stop", "direction": "left"}):
        with pytest.raises(ValueError, match="a direction goes with turn"):
            WalkAction.model_validate({"sentence": 1, "reason": "r", **wrong})


def test_where_the_street_plainly_leads_on_a_sparing_tourist_asks_nobody() -> None:
    mind = Scripted("forward", "turn right", "forward", "stop")
    tourist = navigator(plus_sign(5), mind, spotter=Sees("e3"), sparing=True)
    assert walked(tourist, Pose("s5", 0.0))[-4:] == ["e1", "e2", "e3", "e4"]
    assert [entry.act.reason for entry in tourist.transcript].count("the street leads on") >= 5
    assert len(mind.asked) == 4, (
        "at the start, at the crossing, and with the landmark in sight and just past it"
    )

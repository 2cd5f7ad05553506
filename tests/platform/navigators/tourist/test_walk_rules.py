"""The rules of directions: what is told could be said, what is read is what was meant."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from virl.mind.prompt import load_prompt
from virl.mind.rules import RuleMind
from virl.platform.navigators.tourist.goals import WalkGoal, read_goals
from virl.platform.navigators.tourist.rules import LandmarkNames, WalkAction
from virl.routines.directions.rules import WrittenDirections, unsayable

NAMES = ("Left Bank Cafe", "Moon Bakery", "7 Miles Diner")
TURNS = st.sampled_from(["left", "right", "front left", "front right", "rear left", "rear right"])
WHERE = st.sampled_from(["left", "right", "front left", "front right"])
SIGHTS = st.none() | st.fixed_dictionaries({"name": st.just("Left Bank Cafe"), "where": WHERE})


def point(kind: str, **told: object) -> dict[str, object]:
    bare = {"turn": "", "crossings": None, "ends": False, "where": "", "landmark": None, "passed": None}
    bare |= {"crossing": False, "unseen": False, "part": "", "part_of": ""}
    return {"kind": kind, **bare, **told}


def written(milestones: list[dict[str, object]], destination: str = "Moon Bakery") -> str:
    prompt = load_prompt("directions/instructions", WrittenDirections)
    inputs = {"destination": destination, "names": [*NAMES], "milestones": milestones}
    return RuleMind().ask(prompt, **inputs).directions


def goals(text: str, names: tuple[str, ...] = NAMES) -> tuple[WalkGoal, ...]:
    return read_goals(tuple(f"{part}." for part in text.rstrip(".").split(". ")), names)


def told(goal: WalkGoal) -> tuple[object, ...]:
    return goal.kind, goal.direction, goal.crossing


def test_a_name_that_looks_like_a_measure_is_written() -> None:
    milestones = [point("start", turn="front"), point("end", crossings=1, where="left")]
    assert '"7 Miles Diner"' in written(milestones, destination="7 Miles Diner")


@settings(max_examples=60)
@given(
    st.sampled_from(["front", "rear", "left", "right"]),
    st.lists(st.tuples(TURNS, st.integers(1, 9), SIGHTS, SIGHTS), max_size=4),
    st.integers(0, 6),
    WHERE,
)
def test_what_is_told_is_read_as_it_was_meant(start, turns, last, where) -> None:
    milestones = [
        point("start", turn=start),
        *(
            point("turn", turn=turn, crossings=nth, landmark=seen, passed=passed)
            for turn, nth, seen, passed in turns
        ),
        point("end", crossings=last, where=where),
    ]
    text = written(milestones)
    assert unsayable(text, NAMES) is None
    first, *middle, end = goals(text)
    assert (first.kind, first.direction) == ("start", start)
    assert [told(goal) for goal in middle] == [("turn", turn, nth) for turn, nth, _, _ in turns]
    assert (end.kind, end.crossing) == ("stop", last)
    assert "Moon Bakery" in end.names
    assert "Left Bank Cafe" not in end.names, "a landmark of a turn is no place to stop at"


@settings(max_examples=60)
@given(st.integers(0, 14), st.sampled_from(["crossing", "end", "part", "part of the end"]), WHERE)
def test_a_stop_where_no_name_can_be_read_is_read_as_it_was_meant(passed, stops, where) -> None:
    at_crossing = stops == "crossing"
    told_by = {
        "crossing": {"crossing": True},
        "end": {"ends": True},
        "part": {"part": "two thirds of the way", "part_of": "crossing"},
        "part of the end": {"part": "halfway", "part_of": "end"},
    }[stops]
    end = point("end", crossings=passed + at_crossing, where=where, unseen=True, **told_by)
    text = written([point("start", turn="left"), point("turn", turn="right", crossings=12), end])
    assert unsayable(text, NAMES) is None
    _, turn, stop = goals(text)
    assert told(turn) == ("turn", "right", 12)
    assert (stop.at_crossing, stop.ends, stop.part) == (
        at_crossing,
        stops == "end",
        {"part": 2 / 3, "part of the end": 1 / 2}.get(stops),
    )
    if stops != "end" or passed:
        assert stop.crossing == passed
    assert stop.names == ("Moon Bakery",)


def test_a_turn_at_the_end_of_a_street_is_told_and_read_as_one() -> None:
    text = written(
        [
            point("start", turn="front"),
            point("turn", turn="left", crossings=1, ends=True),
            point("end", crossings=0, where="left"),
        ]
    )
    assert "street ends" in text
    assert goals(text)[1].ends


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (
            (
                "Head straight. Turn right at the second light. Go past one block and turn left at the next. "
                "Moon Bakery will be on your right"
            ),
            [("start", "front", None), ("turn", "right", 2), ("turn", "left", 2), ("stop", "", None)],
        ),
        (
            "Turn around. Take the third left. Stop at Moon Bakery",
            [("start", "rear", None), ("turn", "left", 3), ("stop", "", None)],
        ),
        (
            "Turn left. At the end of the street bear right. Go through two crossings. Stop by Moon Bakery",
            [("start", "left", None), ("turn", "front right", 1), ("stop", "", 2)],
        ),
        (
            "Turn left. At the 23rd crossing, keep straight on. Turn right at the next. Stop at Moon Bakery",
            [("start", "left", None), ("turn", "front", 23), ("turn", "right", 1), ("stop", "", None)],
        ),
        (
            "Go straight on to the second crossing and turn left. Stop at Moon Bakery",
            [("start", "front", None), ("turn", "left", 2), ("stop", "", None)],
        ),
        (
            "Start by turning right. Go past the first light. Turn left at the second. Stop at Moon Bakery",
            [("start", "right", None), ("turn", "left", 2), ("stop", "", None)],
        ),
        (
            "Take the street behind you. Go two blocks and turn half left. It is before the second light",
            [("start", "rear", None), ("turn", "front left", 2), ("stop", "", 1)],
        ),
    ],
)
def test_ordinary_directions_are_read_too(text: str, meant: list[tuple[object, ...]]) -> None:
    assert [told(goal) for goal in goals(text)] == meant


def test_left_in_a_name_is_no_turn() -> None:
    assert [goal.kind for goal in goals('Walk on. Pass "Left Bank Cafe". Stop at "Moon Bakery"')] == [
        "start",
        "stop",
    ]
    assert goals("Pass left Bank, then stop at Left Bank Cafe", ("Left Bank", "Left Bank Cafe"))[1].names == (
        "Left Bank Cafe",
    )


@pytest.mark.parametrize(
    "text",
    [
        "Walk 200 m and turn left.",
        "Walk two hundred meters.",
        "Go fifty feet on.",
        "Turn 90 degrees.",
        "Turn by 45°.",
        "It is 5 minutes away.",
        "Take 30 steps.",
        "Go to 41.2500, -38.7512.",
    ],
)
def test_measures_are_refused(text: str) -> None:
    assert unsayable(text) is not None
    with pytest.raises(ValidationError, match="say it by crossings and landmarks"):
        WrittenDirections(directions=text)


@pytest.mark.parametrize(
    "text",
    [
        "Go over two crossings.",
        "Take the 3rd street on the left.",
        "Stop at 7 Miles Diner.",
        "Take one more left.",
    ],
)
def test_crossings_may_be_counted_and_names_may_hold_anything(text: str) -> None:
    assert unsayable(text, NAMES) is None


def test_directions_must_name_the_destination() -> None:
    with pytest.raises(ValidationError, match="do not name 'Moon Bakery'"):
        WrittenDirections.model_validate(
            {"directions": "Turn left and stop."}, context={"destination": "Moon Bakery"}
        )


def test_landmarks_are_names_that_stand_there() -> None:
    prompt = load_prompt("movement/tourist-landmarks", LandmarkNames)
    text = 'Turn left at "Moon Bakery". Pass "Left Bank Cafe", and stop at "Moon Bakery".'
    assert RuleMind().ask(prompt, directions=text).names == ("Moon Bakery", "Left Bank Cafe")
    plain = "Walk to the crossing with Moon Bakery on the corner, then stop at Hill Pharmacy."
    assert RuleMind().ask(prompt, directions=plain).names == ("Moon Bakery", "Hill Pharmacy")
    with pytest.raises(ValidationError, match="'Sun Books' does not stand in the directions"):
        LandmarkNames.model_validate({"names": ["Sun Books"]}, context={"directions": text})


def noticed(**told: object) -> dict[str, object]:
    return {"seen": [], "crossing": None, "ways": [], "been_here": False, **told}


def act(
    sentences: list[str], walk: list[dict[str, object]], here: dict[str, object], *refused: str
) -> WalkAction:
    prompt = load_prompt("movement/tourist-action", WalkAction)
    names = ["Moon Bakery"]
    return RuleMind().ask(
        prompt, sentences=sentences, landmarks=names, walk=walk, here=here, refused=list(refused)
    )


SENTENCES = ["Turn left and set off.", "At the second crossing, turn right.", "Stop at Moon Bakery."]
CROSSING = noticed(crossing=4, ways=["front", "right", "rear", "left"])
OFF = noticed(ways=["right", "left"]) | {"did": "turn left", "sentence": 1}


def done(step: dict[str, object], did: str = "forward") -> dict[str, object]:
    return step | {"did": did, "sentence": 1}


def test_it_sets_off_counts_crossings_turns_and_stops_beside_what_was_named() -> None:
    assert act(SENTENCES, [], noticed(ways=["right", "left"])).direction == "left"
    assert act(SENTENCES, [OFF], CROSSING).action == "forward"
    second = [OFF, done(CROSSING), done(noticed())]
    reply = act(SENTENCES, second, CROSSING)
    assert (reply.action, reply.direction, reply.sentence) == ("turn", "right", 2)
    turned = [*second, done(CROSSING, "turn right")]
    ahead = noticed(seen=[{"name": "Moon Bakery", "where": "front left"}])
    assert act(SENTENCES, turned, ahead).action == "forward"
    beside = noticed(seen=[{"name": "Moon Bakery", "where": "left"}])
    assert act(SENTENCES, turned, beside).action == "stop"
    assert act(SENTENCES, [*turned, done(ahead)], noticed()).action == "stop", "it was ahead, and is no more"


def test_a_landmark_met_too_early_does_not_stop_it() -> None:
    early = noticed(seen=[{"name": "Moon Bakery", "where": "left"}])
    assert act(SENTENCES, [OFF], early).action == "forward"


def test_it_is_lost_where_the_street_ends_or_the_place_does_not_come() -> None:
    assert act(SENTENCES, [OFF], noticed(ways=["rear"])).action == "lost"
    told = [*SENTENCES[:2], "It is before the next crossing.", SENTENCES[2]]
    turned = [OFF, done(CROSSING), done(CROSSING, "turn right"), done(noticed())]
    reply = act(told, turned, CROSSING)
    assert reply.action == "lost"
    assert "have not seen Moon Bakery" in reply.reason


def test_a_turn_that_was_refused_is_not_tried_again() -> None:
    walk = [OFF, done(CROSSING)]
    assert act(SENTENCES, walk, CROSSING).action == "turn"
    assert act(SENTENCES, walk, CROSSING, "'turn right' cannot be done").action == "forward"


def going(*sentences: str, walk: list[dict[str, object]], here: dict[str, object]) -> str:
    reply = act(list(sentences), walk, here)
    return f"{reply.action} {reply.direction or ''}".strip()


def test_what_was_seen_far_ahead_and_is_hidden_is_still_ahead() -> None:
    far = noticed(seen=[{"name": "Moon Bakery", "where": "front"}])
    assert going("Stop at Moon Bakery.", walk=[OFF, done(far)], here=noticed()) == "forward"


def test_it_does_not_stop_before_the_crossings_that_it_was_told_to_pass() -> None:
    told = ("Turn left and set off.", "Go straight over one crossing.", "Stop at Moon Bakery.")
    beside = noticed(seen=[{"name": "Moon Bakery", "where": "left"}])
    assert going(*told, walk=[OFF], here=beside) == "forward", "another branch, or its sign seen from afar"
    assert going(*told, walk=[OFF, done(CROSSING)], here=beside) == "stop"


def test_it_stops_short_of_what_is_ahead_where_no_way_leads_nearer() -> None:
    ahead = noticed(seen=[{"name": "Moon Bakery", "where": "front"}])
    assert going("Stop at Moon Bakery.", walk=[OFF], here=ahead) == "forward"
    assert going("Stop at Moon Bakery.", walk=[OFF], here=ahead | {"ways": ["rear"]}) == "stop"


def test_it_stops_at_the_crossing_or_the_end_of_the_street_that_it_was_told_of() -> None:
    at = "Stop at the second crossing: Moon Bakery is on your left, and its name is hard to see."
    assert going("Turn left and set off.", at, walk=[OFF], here=CROSSING) == "forward"
    assert going("Turn left and set off.", at, walk=[OFF, done(CROSSING)], here=CROSSING) == "stop"
    end = "Walk on until the street ends, and stop there: Moon Bakery is on your left."
    assert going("Turn left and set off.", end, walk=[OFF, done(CROSSING)], here=noticed()) == "forward"
    assert going("Turn left and set off.", end, walk=[OFF], here=noticed(ways=["rear"])) == "stop"


def test_it_goes_back_to_the_part_of_the_way_that_it_was_told_of() -> None:
    told = ("Turn left and set off.", "Stop a third of the way to the next crossing: Moon Bakery is there.")
    block = [OFF, *[done(noticed())] * 5]
    assert going(*told, walk=block, here=noticed()) == "forward"
    assert going(*told, walk=block, here=CROSSING) == "turn rear"
    back = [*block, done(CROSSING, "turn rear")]
    assert going(*told, walk=[*back, *[done(noticed())] * 2], here=noticed()) == "forward"
    assert going(*told, walk=[*back, *[done(noticed())] * 3], here=noticed()) == "stop"
    bakery = noticed(seen=[{"name": "Moon Bakery", "where": "left"}])
    assert going(*told, walk=block, here=bakery) == "stop"


def test_one_who_is_told_to_be_there_already_stops() -> None:
    told = "You are there already: Moon Bakery is ahead on your left. Stop here."
    assert going(told, walk=[], here=noticed(ways=["front", "rear"])) == "stop"

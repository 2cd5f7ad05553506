"""How the rules walk, and what they report on the way: a street that a test plays."""

from collections import Counter

from made_life import made_character

from virl.mind.lexicon import load_lexicon
from virl.mind.rendering import FENCE_CLOSE, FENCE_OPEN
from virl.routines.by_tools.policy.goals import read_goal
from virl.routines.by_tools.policy.hands import PlannedCall, Situation, ToolReply
from virl.routines.by_tools.policy.told import RouteTold
from virl.routines.by_tools.policy.ways import go_to

BLOCK_M = 20.0
"""Metres between crossings, at each of which a move ends."""
NEAR, FAR, SURE = (
    "bench: front (east, 90 degrees), score 0.61, fills 0.4% of the view",
    "planter: left (north, 0 degrees), score 0.74, fills 0.1% of the view",
    "trash bin: right (south, 180 degrees), score 0.81, fills 0.0% of the view",
)


def situation() -> Situation:
    wanted = "Tess goes to 12 Station Street and reports benches, bins and planters."
    character = made_character(intention=wanted, tools=["route", "move", "where_am_i", "detect"])
    return Situation(character, read_goal(character), load_lexicon(), {}, turns_left=100)


def played(metres: float, finds: str = "") -> tuple[float, list[str], Counter[str]]:
    """Go along one straight leg: what is left, what was noticed, and how often each tool was called."""
    calls: Counter[str] = Counter()
    left = metres
    plan = go_to(situation(), {"address": "12 Station Street"}, RouteTold(left, 3, ((left, "east"),)))
    reply = None
    while True:
        try:
            call: PlannedCall = plan.send(reply) if reply else next(plan)
        except StopIteration as ended:
            there, noticed = ended.value
            return there, noticed, calls
        calls[call.tool] += 1
        ways = "Ways: front (east, 90 degrees), 10 m, pano_id p. Moves left: 50."
        if call.tool == "move":
            left -= BLOCK_M
            text = f"You went {BLOCK_M:.0f} m in 2 moves.\nYou face east, 90 degrees. {ways}"
        elif call.tool == "route":
            text = f"{left:.0f} m, 1 min walking: {left:.0f} m east."
        elif call.tool == "detect":
            text = f"{FENCE_OPEN} {finds}\n{FENCE_CLOSE}"
        else:
            text = f"You face east, 90 degrees. {ways}"
        reply = ToolReply(text)


def test_crossings_on_a_straight_leg_cost_no_question_and_looks_are_as_far_apart_as_things_are_seen() -> None:
    left, _, calls = played(200.0)
    assert left <= 25
    assert calls["move"] == 9
    assert calls["route"] <= 1
    assert calls["detect"] == 5  # after 20, 60, 100, 140 and 180 m


def test_what_is_far_off_is_reported_only_if_it_is_sure() -> None:
    _, noticed, _ = played(80.0, "\n".join((NEAR, FAR, SURE)))
    assert noticed == [
        "On the way stand: bench (up to 1 in sight at once), trash bin (up to 1 in sight at once)."
    ]

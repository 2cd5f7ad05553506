"""What the ways out of a crossing are called by one who has just come to it."""

from typing import Literal, get_args

from virl.datasets.export.town import Town
from virl.geo.globe import signed_turn

Way = Literal["straight", "left", "right", "slight left", "slight right", "sharp left", "sharp right"]
"""Words for a way out of a crossing."""
WAYS: tuple[Way, ...] = get_args(Way)

# All chosen: degrees from straight ahead. A way that fits none of the words is given no name, and no
# instruction leads into it.
STRAIGHT_DEG = 40.0  # no way is straight that turns by more
CLEAR_DEG = 20.0  # of two such ways one is straight only if the other turns by this much more
ASIDE_DEG = 12.0  # a way that turns by less lies to no side
SLIGHT_DEG, SHARP_DEG, BACK_DEG = 50.0, 130.0, 160.0  # bounds of "slight", "left" or "right", and "sharp"
PAIR_SLIGHT_DEG, PAIR_SHARP_DEG, PAIR_APART_DEG = 65.0, 105.0, 35.0  # where two ways leave to one side


def ways_out(town: Town, before: int, node: int) -> dict[int, Way | None]:
    """Return the word for each way out of a node, by the node it leads to; `None` for one without a word.

    Args:
        town: where it is.
        before: the node come from.
        node: the node stood at.

    Returns:
        A word for each way, no two alike; `None` for one that no word fits.
    """
    arrival = town.headings[before][node]
    turns = {
        target: signed_turn(arrival, heading)
        for target, heading in town.headings[node].items()
        if target != before
    }
    words: dict[int, Way | None] = dict.fromkeys(turns)
    ahead = _straight(turns)
    if ahead is not None:
        words[ahead] = "straight"
    for side, sign in (("left", -1), ("right", 1)):
        mine = sorted(
            (abs(turn), target) for target, turn in turns.items() if target != ahead and _lies(turn, sign)
        )
        for (_, target), word in zip(mine, _degrees_of_turn([turn for turn, _ in mine]), strict=True):
            name = f"{word} {side}".strip()
            words[target] = next((way for way in WAYS if way == name), None)
    return words


def ends_here(words: dict[int, Way | None]) -> bool:
    """Return whether a street ends in a T: its ways out go left and right only."""
    return sorted(word or "" for word in words.values()) == ["left", "right"]


def _lies(turn: float, sign: int) -> bool:
    """Return whether a turn, degrees, goes to the side of `sign`; straight back goes to both sides."""
    return sign * turn >= ASIDE_DEG or abs(turn) > 180.0 - ASIDE_DEG


def _straight(turns: dict[int, float]) -> int | None:
    """Return the node that a way leads straight on to; `None` if none is clearly straight."""
    ranked = sorted((abs(turn), target) for target, turn in turns.items())
    if not ranked or ranked[0][0] > STRAIGHT_DEG:
        return None
    if len(ranked) > 1 and ranked[1][0] < ranked[0][0] + CLEAR_DEG:
        return None
    return ranked[0][1]


def _degrees_of_turn(turns: list[float]) -> list[str]:
    """Return each way's degree of turn to one side, the least turn first, such as "slight"."""
    if len(turns) == 1:
        (turn,) = turns
        bounds = ((SLIGHT_DEG, "slight"), (SHARP_DEG, ""), (BACK_DEG, "sharp"))
        return [next((word for bound, word in bounds if turn < bound), "no word")]
    if len(turns) == 2 and turns[1] - turns[0] >= PAIR_APART_DEG:
        return [
            "slight" if turns[0] < PAIR_SLIGHT_DEG else "no word",
            "sharp" if PAIR_SHARP_DEG < turns[1] < BACK_DEG else "no word",
        ]
    return ["no word"] * len(turns)

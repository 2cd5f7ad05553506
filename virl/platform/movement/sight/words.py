"""The map of a walker in words, and a way that it may take, for a mind that reads."""

from collections.abc import Sequence

from virl.geo import bearing, compass_word, distance, egocentric_word
from virl.platform.movement.sight.clues import Clues
from virl.platform.movement.sight.looking import KnownSign
from virl.platform.movement.sight.seen import Frontier, SeenMap
from virl.platform.streetview import Pose

MOST_JUNCTIONS = 12
"""Junctions that are told of, the ones visited last. Chosen: a question stays within 2,000 tokens."""
MOST_DEAD_ENDS = 4
MOST_SIGNS = 3
MOST_LETTERS = 40


def map_in_words(seen: SeenMap, clues: Clues, pose: Pose) -> str:
    """The junctions visited, the last ones first, dead ends, and what signs tell, as seen from here."""
    visited = list(seen.visited)
    here = next(one for one in visited if one.id == pose.pano_id)
    junctions = [one for one in visited if one.is_crossing and one.id != here.id]
    told = [f"You face {compass_word(pose.heading)}. You have come by {len(junctions)} other junctions."]
    for one in reversed(junctions[-MOST_JUNCTIONS:]):
        where = compass_word(bearing(here.position, one.position))
        away = distance(here.position, one.position)
        times = _times(seen.visits(one.id))
        told.append(f"A junction of {len(one.links)} ways {away:.0f} m {where}, visited {times}.")
    ends = [one for one in reversed(visited) if len(one.links) == 1 and one.id != here.id]
    told += [
        f"A dead end {distance(here.position, one.position):.0f} m "
        f"{compass_word(bearing(here.position, one.position))}."
        for one in ends[:MOST_DEAD_ENDS]
    ]
    return "\n".join([*told, *clues.in_words(here.position)])


def way_in_words(way: Frontier, pose: Pose, signs: Sequence[KnownSign]) -> str:
    """How a way is reached, where it leads, and which signs were read down it."""
    if way.junctions or way.pano_id != pose.pano_id:
        begin = (
            f"back over {way.junctions} junctions ({way.metres:.0f} m), then {compass_word(way.link.heading)}"
        )
    else:
        turn = egocentric_word(pose.heading, way.link.heading)
        begin = f"from here, {turn}, {compass_word(way.link.heading)}"
    read = [one.sign.text[:MOST_LETTERS] for one in signs[:MOST_SIGNS]]
    return f"{begin}; " + (f"signs: {', '.join(map(repr, read))}" if read else "no signs read")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"

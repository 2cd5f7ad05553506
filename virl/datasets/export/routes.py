"""Gold paths: walks through a part of a town, drawn from a seed."""

from random import Random

import numpy as np

from virl.datasets.export.town import Town
from virl.datasets.export.ways import ways_out
from virl.geo import Flags, signed_turn

PANORAMAS = (15, 50)  # of a gold path; about the range of Touchdown's and Map2seq's
TURNS = (1, 4)  # chosen; Map2seq's instructions tell of two or three
STRAIGHT_ON = 0.6  # share of crossings that a walk goes straight through where it can; chosen
MOST_PASSED = 4  # crossings between two turns, so that they can be counted; chosen
BEND_DEG = 45.0  # no walk follows a road round a sharper bend, which no clause speaks of; chosen


def starts(town: Town, part: Flags) -> list[int]:
    """Where walks may begin: mid-block, with all links there."""
    return np.flatnonzero(part & town.whole & (town.graph.degree == 2)).tolist()


def draw_walk(town: Town, part: Flags, start: int, rng: Random) -> list[int]:
    """A walk from `start` that stays in a part, as long as it finds a way that has a name, 50 nodes at most.

    It turns at crossings alone, visits no node twice, and stops short of a fifth turn.
    """
    path = [start, rng.choice(list(town.headings[start]))]
    if not _open(town, part, *path):
        return path[:1]
    turns = passed = 0
    while len(path) < PANORAMAS[1]:
        before, node = path[-2:]
        if town.is_crossing(node):
            words = ways_out(town, before, node)
            on = [n for n, word in words.items() if word == "straight" and passed < MOST_PASSED]
            off = [n for n, word in words.items() if word not in (None, "straight") and turns < TURNS[1]]
            on, off = (
                [n for n in nodes if n not in path and _open(town, part, node, n)] for nodes in (on, off)
            )
            if not on and not off:
                break
            straight = bool(on) and (not off or rng.random() < STRAIGHT_ON)
            path.append(rng.choice(on if straight else off))
            turns, passed = (turns, passed + 1) if straight else (turns + 1, 0)
        else:
            onward = next((n for n in town.headings[node] if n != before), node)
            bends = onward != node and _bend(town, before, node, onward) > BEND_DEG
            if onward in path or bends or not _open(town, part, node, onward):
                break
            path.append(onward)
    return path


def _open(town: Town, part: Flags, before: int, node: int) -> bool:
    """Whether a walk may lead from one node to another.

    Not from a crossing straight into the next: who counts takes two that are so near to each other for one.
    """
    return bool(part[node] and town.whole[node]) and not (town.is_crossing(before) and town.is_crossing(node))


def _bend(town: Town, before: int, node: int, onward: int) -> float:
    return abs(signed_turn(town.headings[before][node], town.headings[node][onward]))

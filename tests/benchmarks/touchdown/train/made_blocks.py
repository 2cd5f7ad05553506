"""A grid of streets with crossings, and episodes on it whose instructions say the way."""

from itertools import pairwise

from virl.platform.city.graph import InstructionEpisode, NavigationGraph, build_graph

BLOCK = 3  # panoramas from one crossing to the next
_WORDS = {-90: "left", 90: "right"}


def made_blocks(size: int = 4) -> NavigationGraph:
    """Streets every `BLOCK` panoramas, 10 m apart; the ids are `x,y`, x to the east and y to the north."""
    last = (size - 1) * BLOCK
    points = {
        f"{x},{y}": (x, y)
        for x in range(last + 1)
        for y in range(last + 1)
        if x % BLOCK == 0 or y % BLOCK == 0
    }
    number = {name: index for index, name in enumerate(points)}
    links = [
        (number[name], number[other], heading)
        for name, (x, y) in points.items()
        for heading, other in (
            (0, f"{x},{y + 1}"),
            (90, f"{x + 1},{y}"),
            (180, f"{x},{y - 1}"),
            (270, f"{x - 1},{y}"),
        )
        if other in number
    ]
    return build_graph(
        list(points),
        [40.7 + 0.00009 * y for _, y in points.values()],
        [-74.0 + 0.000118 * x for x, _ in points.values()],
        [source for source, _, _ in links],
        [target for _, target, _ in links],
        [float(heading) for _, _, heading in links],
    )


def made_episode(identity: str, start: tuple[int, int], legs: list[tuple[int, int]]) -> InstructionEpisode:
    """An episode of straight legs.

    Args:
        identity: its id.
        start: x and y.
        legs: heading, one of 0, 90, 180 and 270, and panoramas to go.
    """
    x, y = start
    path = [(x, y)]
    told = []
    for (heading, count), before in zip(legs, [None, *legs], strict=False):
        turn = 0 if before is None else (heading - before[0] + 180) % 360 - 180
        told.append(f"{f'turn {_WORDS[turn]} and ' if turn else ''}go {count} steps")
        for _ in range(count):
            dx, dy = {0: (0, 1), 90: (1, 0), 180: (0, -1), 270: (-1, 0)}[heading]
            path.append((path[-1][0] + dx, path[-1][1] + dy))
    assert all(abs(a - c) + abs(b - d) == 1 for (a, b), (c, d) in pairwise(path))
    ids = tuple(f"{x},{y}" for x, y in path)
    return InstructionEpisode(
        identity, f"{', '.join(told).capitalize()}, stop at the {identity}.", ids, float(legs[0][0])
    )


def eight_episodes() -> list[InstructionEpisode]:
    """Short walks with turns, each with a landmark of its own in the instruction."""
    ways = {
        "bakery": ((0, 0), [(0, 3), (90, 2)]),
        "fountain": ((0, 0), [(0, 3), (90, 4)]),
        "museum": ((3, 0), [(0, 3), (270, 2)]),
        "zoo": ((3, 0), [(0, 6), (90, 2)]),
        "jeweller": ((6, 0), [(0, 5)]),
        "hotel": ((0, 3), [(90, 3), (180, 2)]),
        "library": ((9, 3), [(270, 6), (0, 1)]),
        "quay": ((0, 6), [(90, 3), (0, 2)]),
    }
    return [made_episode(landmark, start, legs) for landmark, (start, legs) in ways.items()]

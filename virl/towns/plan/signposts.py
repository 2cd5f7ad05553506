"""Plates and signposts over streets where they leave a junction: names, numbers, and ways to landmarks."""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import shapely
from scipy.sparse import csr_array

from virl.geo.globe import Floats
from virl.platform.city.place_types import types_marked
from virl.towns.plan.town_plan import Point, Shop, Sign, Street, StreetPlan

SIGNED_M = 600.0
"""Largest distance in metres at which a landmark is signed. Chosen: a walk of eight minutes."""
CENTRE = "Centre"
"""Name of the middle of town as written on signposts."""
MOST_LINES = 3
"""Largest number of lines over a street; chosen: more would hang too low or be too small to read."""
ROUNDED_M = 50
"""Metres to which distances on signposts are rounded."""
SAME_M = 1.0
LETTER_M = 0.07
"""Width in metres of a signpost's line for each letter; chosen."""
BOTTOM_M, HEIGHT_M, STEP_M = 3.55, 0.2, 0.21  # fire engines pass below, 3.5 m high

_FROM_JUNCTION_M = 14.0
"""Metres from the middle of a junction to a plate, so that a camera there sees it mid-view. Chosen."""
_LARGEST_SHARE = 0.4
"""Largest distance from a junction to its plate, as a share of the street's length, [0, 1]; chosen."""
_PLATE_BOTTOM_M, _PLATE_HEIGHT_M = 4.2, 0.45  # lorries pass below
_PLATE_LETTER_M, _MARGIN_M = 0.1, 0.3  # width for each letter, and beyond the letters; chosen
_LEAST_WAYS = 3
"""Least number of streets that meet at a junction where plates hang."""
_TANGENT_M = 1.0


class Hook(NamedTuple):
    """A place over the end of a street, where signs for visitors of its junction can hang."""

    street: Street
    number: int
    """End of the street over which the hook is: 0 for its start, 1 for its end."""
    length: float
    """Length of the street, metres."""

    @property
    def junction(self) -> int:
        """Index of the junction whose visitors read the signs."""
        return self.street.end if self.number else self.street.start

    @property
    def far_junction(self) -> int:
        """Index of the junction at the other end of the street."""
        return self.street.start if self.number else self.street.end

    @property
    def line(self) -> Floats:
        """Centre line of the street, from `junction` on, metres, shape (n, 2)."""
        return self.street.line[::-1] if self.number else self.street.line

    def ends(self, width: float) -> tuple[Point, Point]:
        """Return (left end, right end) of a sign of `width` metres, as a reader at the junction sees it."""
        way = shapely.LineString(self.line)
        along = min(_FROM_JUNCTION_M, _LARGEST_SHARE * self.length)
        points = [
            way.interpolate(metres) for metres in (max(along - _TANGENT_M, 0.0), along, along + _TANGENT_M)
        ]
        before, middle, after = (np.array((point.x, point.y)) for point in points)
        ahead = (after - before) / np.linalg.norm(after - before)
        right = np.array((ahead[1], -ahead[0])) * width / 2
        return _round_point(middle - right), _round_point(middle + right)


class SignedPlace(NamedTuple):
    """A landmark that signposts point to, and its position along a street."""

    name: str
    street: int
    """Index of the street on which the landmark stands."""
    along: float
    """Metres from the start of that street to the landmark."""


class Line(NamedTuple):
    """A line of text on a signpost: a name and a distance."""

    name: str
    metres: float
    """Distance to the place along the streets, metres."""


def put_up_signposts(layout: StreetPlan, shops: Sequence[Shop]) -> tuple[Sign, ...]:
    """Return the signposts at junctions, with the names of landmarks among `shops` and the metres to each.

    A landmark that is signed at one junction is signed at each on the way to it. Where there is room left, a
    board points to the middle of the town.
    """
    metres = _between_junctions(layout)
    hooks = list(_hooks(layout))
    lines = _assign_lines(hooks, _landmarks(layout, shops), layout, metres)
    middle = int(np.argmin(np.linalg.norm(layout.junctions - layout.junctions.mean(axis=0), axis=1)))
    boards: list[Sign] = []
    for hook, own in zip(hooks, lines, strict=True):
        if (away := _metres_through(hook, metres[:, middle])) < np.inf:
            own.append(Line(CENTRE, away))
        boards += [_board(hook, row, line) for row, line in enumerate(own[:MOST_LINES])]
    return tuple(boards)


def _assign_lines(
    hooks: Sequence[Hook], landmarks: Sequence[SignedPlace], layout: StreetPlan, metres: Floats
) -> list[list[Line]]:
    """Return each hook's lines of text, the nearest landmark first; `metres`: between all junctions."""
    waiting: list[deque[tuple[float, int]]] = []
    for landmark in landmarks:
        street = layout.streets[landmark.street]
        rest = shapely.LineString(street.line).length - landmark.along
        to = np.minimum(metres[:, street.start] + landmark.along, metres[:, street.end] + rest)
        away = [(_metres_along(hook, landmark, to), number) for number, hook in enumerate(hooks)]
        waiting.append(deque(sorted(one for one in away if one[0] <= SIGNED_M)))
    lines: list[list[Line]] = [[] for _ in hooks]
    decided = {hook.junction for hook in hooks}
    signed: set[tuple[str, int]] = set()
    # By turns: one landmark with many hooks near must not take all lines from the others.
    while any(waiting):
        for landmark, left in zip(landmarks, waiting, strict=True):
            while left:
                metres_to, number = left.popleft()
                hook = hooks[number]
                goes_on = landmark.street == hook.street.id or hook.far_junction not in decided
                if len(lines[number]) < MOST_LINES and (
                    goes_on or (landmark.name, hook.far_junction) in signed
                ):
                    lines[number].append(Line(landmark.name, metres_to))
                    signed.add((landmark.name, hook.junction))
                    break
    return [sorted(own, key=lambda line: (line.metres, line.name)) for own in lines]


def _landmarks(layout: StreetPlan, shops: Sequence[Shop]) -> list[SignedPlace]:
    """Return the places of landmark types whose name no other place has, in the order of the shops."""
    fronts = {front.id: front for front in layout.frontages}
    names = [shop.place.name for shop in shops]
    found = []
    for shop in shops:
        is_landmark = shop.place.types and shop.place.types[0] in types_marked("landmark")
        if is_landmark and names.count(shop.place.name) == 1:
            front = fronts[shop.frontage]
            middle = (np.array(front.left) + np.array(front.right)) / 2
            line = shapely.LineString(layout.streets[front.street].line)
            found.append(SignedPlace(shop.place.name, front.street, line.project(shapely.Point(middle))))
    return found


def _between_junctions(layout: StreetPlan) -> Floats:
    """Return the shortest ways along the streets between junctions, metres, (junctions, junctions)."""
    from scipy.sparse.csgraph import dijkstra  # noqa: PLC0415 - takes 0.1 s, which no kept plan needs

    ends = np.array([(street.start, street.end) for street in layout.streets]).T
    length = np.array([shapely.LineString(street.line).length for street in layout.streets])
    order = np.argsort(-length, kind="stable")  # of two streets with the same ends, the shorter stands
    count = len(layout.junctions)
    dense = np.zeros((count, count))
    for row in (0, 1):
        dense[ends[row][order], ends[1 - row][order]] = length[order]
    return np.asarray(dijkstra(csr_array(dense), directed=False))


def _metres_along(hook: Hook, landmark: SignedPlace, to_junctions: Floats) -> float:
    """Return the metres to a landmark from a hook's junction along its street; `inf` if not shortest."""
    if landmark.street != hook.street.id:
        return _metres_through(hook, to_junctions)
    away = hook.length - landmark.along if hook.number else landmark.along
    return away if away <= to_junctions[hook.junction] + SAME_M else np.inf


def _metres_through(hook: Hook, to_junctions: Floats) -> float:
    """Return the metres to a landmark from a hook's junction through its street; `inf` if not shortest."""
    away = hook.length + float(to_junctions[hook.far_junction])
    return away if away <= to_junctions[hook.junction] + SAME_M else np.inf


def _board(hook: Hook, row: int, line: Line) -> Sign:
    """Return one line of a signpost as a sign over a hook's street; row 0 is the highest."""
    text = f"{line.name} {max(round(line.metres / ROUNDED_M), 1) * ROUNDED_M} m"
    bottom = BOTTOM_M + STEP_M * (MOST_LINES - 1 - row)
    ends = hook.ends(LETTER_M * len(text) + _MARGIN_M)
    name, top = f"street-{hook.street.id}-{hook.number}-signpost-{row}", round(bottom + HEIGHT_M, 3)
    return Sign(name, "", text, "", "signpost", *ends, round(bottom, 3), top, 0)


def _hooks(layout: StreetPlan) -> Iterator[Hook]:
    """Yield the hooks of a town: over each street that leaves a junction of `_LEAST_WAYS` or more."""
    ways = np.bincount([end for street in layout.streets for end in (street.start, street.end)])
    for street in layout.streets:
        length = shapely.LineString(street.line).length
        for number in (0, 1):
            hook = Hook(street, number, length)
            if ways[hook.junction] >= _LEAST_WAYS:
                yield hook


def hang_plates(layout: StreetPlan) -> tuple[Sign, ...]:
    """Return a plate for each street end at a junction of `_LEAST_WAYS` or more, read from its middle.

    Its second line has the lowest and the highest house number as far as the next junction.
    """
    numbers: dict[int, list[int]] = {}
    for front in layout.frontages:
        numbers.setdefault(front.street, []).append(front.number)
    return tuple(_plate(hook, numbers.get(hook.street.id, [])) for hook in _hooks(layout))


def _plate(hook: Hook, numbers: list[int]) -> Sign:
    """Return the plate on a hook: the street's name over its lowest and highest house number."""
    name, text = f"street-{hook.street.id}-{hook.number}-plate", hook.street.name
    span = f"{min(numbers)}-{max(numbers)}" if numbers else ""
    ends = hook.ends(_PLATE_LETTER_M * len(text) + _MARGIN_M)
    top = _PLATE_BOTTOM_M + _PLATE_HEIGHT_M
    return Sign(name, "", text, span, "plate", *ends, _PLATE_BOTTOM_M, top, 0)


def _round_point(point: Floats) -> Point:
    """Return a point rounded to a millimetre."""
    x, y = np.round(point, 3).tolist()
    return x, y

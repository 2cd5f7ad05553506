"""Marks of maps, which keep apart: those that would cover others are joined with them or moved off."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import cos, hypot, radians, sin
from typing import NamedTuple

import numpy as np

from virl.pages.paper import Paper, Point
from virl.pages.theme import shapes
from virl.plain_text import shorten

# In pixels on the page; all chosen.
ROOM = 2.0  # room around a mark
SHIFTS = (12.0, 18.0, 25.0, 33.0, 44.0, 58.0)  # distances by which a mark may be moved off another
MOST_MOVED = 150  # most marks of a map that are moved off each other: more are a cloud
NEAR = (20.0, 30.0, 45.0, 60.0)  # distances below which numbered marks are joined; the next if some overlap
PAIR_LETTERS = 6  # most letters of the sign of a narrow joined mark
MOST_SIGNS = 3  # most signs that a joined mark names; of more, the first and how many more
LONGEST_LABEL = 28  # characters of a label
MOST_LABELS = 2  # most labels that stand beside a joined mark; of more, the first and how many more

Rectangle = tuple[float, float, float, float]
"""A rectangle as (left, top, right, bottom) in pixels."""


class LabelAnchor(NamedTuple):
    """A position of a label beside its mark, in pixels from the mark to its baseline."""

    name: str
    """Side of the mark, as a style class."""
    x: float
    """Pixels to the right of the mark."""
    y: float
    """Pixels from the mark down to the label's baseline."""
    share: float
    """Share of the label's width, [0, 1], that is left of the position."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark at a point on paper: x metres east and y metres south of the frame's origin."""

    x: float
    y: float
    kind: str
    """Style classes of the mark, separated by spaces; the last one names its colour."""
    title: str
    """Text shown when the mark is pointed at."""
    shape: str = "disc"
    """Name of the mark's shape in `theme.shapes`."""
    sign: str = ""
    """Up to three characters shown inside the mark; may be empty."""
    label: str = ""
    """Text beside the mark if there is room; may be empty."""
    href: str = ""
    """Address that the mark links to; empty without link."""
    is_minor: bool = False
    """True if the mark's link is skipped by readers who go from link to link by keyboard."""
    heading: float | None = None
    """Heading of the mark's view, degrees clockwise from north; `None` without view."""
    side: LabelAnchor | None = None
    """Position of the label; `None` if there is no room for it."""
    shift: Point = (0.0, 0.0)
    """Pixels (x, y) by which the mark is moved off a more important one."""
    is_joined: bool = False
    """True if a mark for several shows this one's sign."""
    is_group: bool = False
    """True if the mark stands for several."""

    @property
    def is_movable(self) -> bool:
        """Return whether the mark may be moved off others: it is no pin, small dot or ring around a mark."""
        return self.shape not in ("dot", "ring", "pin")

    @property
    def shown_sign(self) -> str:
        """The text inside the mark, as long as its shape has room for."""
        return self.sign if self.is_group else shorten(self.sign, 3)

    @property
    def shown_label(self) -> str:
        """The text beside the mark, cut after a word; that of a joined mark is made of such texts."""
        return self.label if self.is_group else shorten(self.label, LONGEST_LABEL)


def move_apart(paper: Paper, marks: Sequence[Mark]) -> list[Mark]:
    """Return marks, the most important first, that cover each other as little as they can.

    Numbered ones close together are joined; of others, those that would cover one are moved off it.
    """
    moved: list[Mark] = list(marks)
    for near in NEAR if len(marks) <= MOST_MOVED else ():
        moved, taken, is_free = [], [box_of(paper, mark) for mark in marks if mark.shape == "pin"], True
        for mark in _join(paper, marks, near):
            shift = mark.shift
            if mark.is_movable and not mark.is_joined:
                boxes = ((one, box_of(paper, mark, one)) for one in _SHIFTED)
                boxes = (box for box in boxes if box[0] == mark.shift or _is_on(paper, box[1]))
                free = (one for one, box in boxes if not any(meet(box, other) for other in taken))
                found = next(free, None)
                shift, is_free = found or shift, is_free and found is not None
                taken.append(box_of(paper, mark, shift))
            moved.append(replace(mark, shift=shift))
        if is_free:
            break
    return moved


def _is_on(paper: Paper, box: Rectangle) -> bool:
    """Return whether a rectangle in pixels is on a map."""
    left, top, right, bottom = box
    return left >= 0 <= top and right <= paper.width / paper.pixel and bottom <= paper.height / paper.pixel


def _join(paper: Paper, marks: Sequence[Mark], near: float) -> Iterator[Mark]:
    """Yield marks, before each the mark for all of its kind that are nearer than `near` pixels, if any."""
    sets: list[list[Mark]] = []
    for mark in marks:
        alike = (
            one for one in sets
            if mark.sign and mark.is_movable and (one[0].kind, one[0].shape) == (mark.kind, mark.shape)
            and hypot(one[0].x - mark.x, one[0].y - mark.y) < near * paper.pixel
        )  # fmt: skip
        if known := next(alike, None):
            known.append(mark)
        else:
            sets.append([mark])
    for one in sets:
        if len(one) > 1:
            yield _group_of(one)
        yield from (replace(mark, is_joined=len(one) > 1) for mark in one)


def _group_of(marks: Sequence[Mark]) -> Mark:
    """Return the mark that stands for several at the place of the first, named by their signs in order."""
    ranked = sorted(marks, key=lambda mark: (len(mark.sign), mark.sign))
    signs = [mark.sign for mark in ranked]
    named = [mark for mark in ranked if mark.label]
    is_same = len({mark.label for mark in named}) == 1
    labels = [f"{'' if is_same else f'{mark.sign} '}{mark.shown_label}" for mark in named][
        : 1 if is_same else None
    ]
    more = [f"{len(labels) - 1} more"] if len(labels) > MOST_LABELS else labels[1:]
    sign = ", ".join(signs) if len(signs) <= MOST_SIGNS else f"{signs[0]} +{len(signs) - 1}"
    return replace(
        marks[0],
        title=f"{', '.join(signs)}: {'; '.join(mark.title for mark in ranked)}",
        shape="pair" if len(sign) <= PAIR_LETTERS else "trio",
        sign=sign,
        label=" \N{MIDDLE DOT} ".join([*labels[:1], *more]),
        heading=None,
        is_group=True,
    )


_SHIFTED: tuple[Point, ...] = (
    (0.0, 0.0),
    *(
        (away * sin(radians(turn)), -away * cos(radians(turn)))
        for away in SHIFTS
        for turn in range(0, 360, 45)
    ),
)


def meet(one: Rectangle, other: Rectangle) -> bool:
    """Return whether two rectangles overlap."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def box_of(paper: Paper, mark: Mark, shift: Point | None = None) -> Rectangle:
    """Return the rectangle that a mark takes on a map, in pixels.

    Args:
        paper: the paper of the map.
        mark: the mark.
        shift: pixels by which it is moved; by default its own.
    """
    left, top, right, bottom = shape_box(mark.shape)
    (x, y), (dx, dy) = to_pixels(paper, (mark.x, mark.y)), shift or mark.shift
    return x + dx + left - ROOM, y + dy + top - ROOM, x + dx + right + ROOM, y + dy + bottom + ROOM


def shape_box(shape: str) -> Rectangle:
    """Return the rectangle around a shape, in pixels from its mark's point."""
    known = shapes()[shape]
    if isinstance(known, tuple):
        (left, top), (right, bottom) = np.min(known, axis=0).tolist(), np.max(known, axis=0).tolist()
        return left, top, right, bottom
    return -known, -known, known, known


def to_pixels(paper: Paper, place: Point) -> Point:
    """Return a point on paper, metres, in pixels from the upper left corner."""
    return (place[0] - paper.left) / paper.pixel, (place[1] - paper.top) / paper.pixel

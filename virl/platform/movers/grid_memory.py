"""What relocating has told around a panorama, so that the grid mover asks for nothing it could know."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import hypot
from typing import Protocol, runtime_checkable

from virl.geo.globe import LatLng, LocalFrame
from virl.platform.city.streetview import Panorama, StreetView

RELOCATE_RADIUS_M = 50.0  # Google's own where a request names none, as those of V-IRL do not
"""Radius in metres within which a street view looks for the panorama nearest to a position."""
SLACK_M = 0.01  # chosen: of two panoramas this near to a tie, either may be taken for the nearest
"""Metres by which a circle may reach beyond another and still count as within it."""


@runtime_checkable
class BatchStreetView(Protocol):
    """A street view that relocates many positions at once."""

    def nearest_many(
        self, positions: Sequence[LatLng], radius: float = RELOCATE_RADIUS_M
    ) -> list[Panorama | None]:
        """Return the answer of `StreetView.nearest` for each position, in their order.

        Raises:
            BadInput: the radius is out of its range.
        """
        ...


@dataclass(frozen=True, slots=True)
class Answer:
    """The panorama nearest to a position, or that there is none within `RELOCATE_RADIUS_M`."""

    position: LatLng
    panorama: Panorama | None
    """Panorama nearest to the position; `None` without one within `RELOCATE_RADIUS_M`."""


class Survey:
    """The panoramas nearest to positions around one, by earlier answers, inference, or new questions.

    No panorama is nearer to a position than its answer. So where another panorama is known, and the circle
    around a second position that goes through it lies within the first circle, it is the answer there too.
    This holds as far as the street view keeps to its contract and gives the nearest.

    Args:
        streetview: whom to ask.
        here: the panorama.
        earlier: answers around its neighbours.
    """

    def __init__(self, streetview: StreetView, here: Panorama, earlier: Iterable[Answer] = ()) -> None:
        self.gained: list[Answer] = []
        """The answers asked for now, those given earlier left out."""
        self._streetview = streetview
        self._frame = LocalFrame(here.position)
        self._asked: dict[LatLng, Panorama | None] = {}
        self._empty: list[tuple[float, float, float]] = []
        """Circles without a panorama inside: metres east and north of `here`, and the radius."""
        self._known: dict[str, tuple[float, float, Panorama]] = {}
        self._meet(here)
        for answer in earlier:
            self._record(answer)

    def nearest(self, position: LatLng) -> Panorama | None:
        """Return the panorama nearest to a position; `None` without one within `RELOCATE_RADIUS_M`."""
        if position in self._asked:
            return self._asked[position]
        implied = self._infer_panorama(position)
        if implied is not None:
            return implied
        return self._gain(position, self._streetview.nearest(position, RELOCATE_RADIUS_M))

    def ask_together(self, positions: Sequence[LatLng]) -> None:
        """Ask for the positions whose answers do not follow from earlier ones, in one request if possible."""
        if not isinstance(self._streetview, BatchStreetView):
            return
        unknown = [position for position in positions if self._infer_panorama(position) is None]
        if unknown:
            found = self._streetview.nearest_many(unknown, RELOCATE_RADIUS_M)
            for position, panorama in zip(unknown, found, strict=True):
                self._gain(position, panorama)

    def _gain(self, position: LatLng, panorama: Panorama | None) -> Panorama | None:
        """Record a new answer, also among those gained, and return its panorama."""
        answer = Answer(position, panorama)
        self.gained.append(answer)
        self._record(answer)
        return panorama

    def _record(self, answer: Answer) -> None:
        """Record an answer: its panorama, and a circle around its position in which no other one lies."""
        self._asked[answer.position] = answer.panorama
        x, y = self._frame.point(answer.position)
        radius = RELOCATE_RADIUS_M
        if answer.panorama is not None:
            there = self._meet(answer.panorama)
            radius = hypot(x - there[0], y - there[1])
        self._empty.append((x, y, radius))

    def _meet(self, panorama: Panorama) -> tuple[float, float]:
        """Record a panorama as known, and return its x and y, metres east and north of the surveyed one."""
        x, y = self._frame.point(panorama.position)
        self._known[panorama.id] = x, y, panorama
        return x, y

    def _infer_panorama(self, position: LatLng) -> Panorama | None:
        """Return the panorama that earlier answers prove nearest to a position; `None` without proof."""
        x, y = self._frame.point(position)
        away, panorama = min(
            ((hypot(x - px, y - py), panorama) for px, py, panorama in self._known.values()),
            key=lambda pair: pair[0],
        )
        follows = (hypot(x - cx, y - cy) + away <= radius + SLACK_M for cx, cy, radius in self._empty)
        return panorama if any(follows) else None

"""Where a walker is told of a crossing: wherever the links show one, or as V-IRL tells it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from virl.geo.globe import LatLng, distance
from virl.platform.city.streetview import Panorama

KEY_RADIUS_M = 5.0
"""Metres from a key position of the route within which V-IRL tells of a crossing (its published code)."""


class CrossingHints(Protocol):
    """A rule for the panoramas at which the walker is told of a crossing."""

    @property
    def mode(self) -> str:
        """The name of the rule: `"honest"` or `"paper"`."""
        ...

    def tells(self, panorama: Panorama) -> bool:
        """Return whether the walker is told of a crossing at a panorama."""
        ...


@dataclass(frozen=True, slots=True)
class HonestHints:
    """A rule that tells of every crossing that the panorama's own links show."""

    @property
    def mode(self) -> str:
        """The name of the rule: `"honest"`."""
        return "honest"

    def tells(self, panorama: Panorama) -> bool:
        """Return whether three or more ways meet."""
        return panorama.is_crossing


@dataclass(frozen=True, slots=True)
class PaperHints:
    """A rule that tells of crossings at the key positions of the true route alone, as V-IRL does."""

    key_positions: Sequence[LatLng]
    """The turns of the route, its ends left out; where it never turns, all crossings are told of."""
    radius: float = KEY_RADIUS_M

    @property
    def mode(self) -> str:
        """The name of the rule: `"paper"`."""
        return "paper"

    def tells(self, panorama: Panorama) -> bool:
        """Return whether three or more ways meet near a key position, or anywhere if there is none."""
        near = not self.key_positions or any(
            distance(panorama.position, position) <= self.radius for position in self.key_positions
        )
        return panorama.is_crossing and near

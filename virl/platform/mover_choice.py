"""Which mover fits a city, and why."""

from collections import deque
from dataclasses import dataclass

from virl.platform.streetview import Panorama, StreetView

MEASURED = 12  # panoramas around the start that are looked at; chosen: about 120 m of street
LONELY_SHARE = 0.25  # more panoramas with fewer than two links are too many; chosen: dead ends are rarer
MOVERS_WITHOUT_LINKS = ("grid", "web")
"""Movers that ask a street view for no links."""


@dataclass(frozen=True, slots=True)
class MoverChoice:
    """A mover and the reason for it."""

    name: str
    reason: str
    works: tuple[str, ...] = ()
    """All movers that work there; empty if every one does."""


@dataclass(frozen=True, slots=True)
class LinkDensity:
    """The links around a panorama."""

    seen: int
    """Panoramas that were reached by links, the first one included; at most `MEASURED`."""
    lonely: int
    """Those of them with fewer than two links."""

    @property
    def are_thin(self) -> bool:
        """Return whether a walk would often find no link where a street goes on."""
        return self.seen < MEASURED or self.lonely > LONELY_SHARE * self.seen

    @property
    def summary(self) -> str:
        """The findings in words."""
        if self.seen < MEASURED:
            return f"links lead to {self.seen - 1} panoramas around the start only"
        return f"{self.lonely} of {self.seen} panoramas around the start have fewer than two links"


def links_around(streetview: StreetView, start: Panorama) -> LinkDensity:
    """Follow links from a panorama to those around it, the nearest first.

    Args:
        streetview: asked about at most `MEASURED` panoramas.
        start: where to begin.
    """
    found, ahead = {start.id: start}, deque([start])
    while ahead and len(found) < MEASURED:
        for link in ahead.popleft().links:
            if link.pano_id not in found and len(found) < MEASURED:
                found[link.pano_id] = streetview.panorama(link.pano_id)
                ahead.append(found[link.pano_id])
    return LinkDensity(len(found), sum(len(panorama.links) < 2 for panorama in found.values()))

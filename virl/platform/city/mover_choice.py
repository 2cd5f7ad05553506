"""Which mover fits a city, and why."""

from collections import deque
from dataclasses import dataclass

from virl.platform.city.streetview import Panorama, StreetView

MEASURED = 12
"""Most panoramas around the start that are looked at; chosen: about 120 m of street."""
LONELY_SHARE = 0.25
"""Share of panoramas with fewer than two links above which links are thin; chosen."""
MOVERS_WITHOUT_LINKS = ("grid", "web")
"""Names of the movers that need no links between panoramas."""


@dataclass(frozen=True, slots=True)
class MoverChoice:
    """The name of a mover for a city, and the reason for it."""

    name: str
    reason: str
    works: tuple[str, ...] = ()
    """Names of all movers that work there; empty if every one does."""


@dataclass(frozen=True, slots=True)
class LinkDensity:
    """The number of panoramas around a start, and of those with few links."""

    seen: int
    """Number of panoramas reached by links, the first one included; at most `MEASURED`."""
    lonely: int
    """Number of these panoramas with fewer than two links."""

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
    """Follow links from a panorama to those around it, nearest first, and count those with few links.

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

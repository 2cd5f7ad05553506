"""The `web` mover: walks in a street-view page of virl's own, in a headless Chromium.

Links are those that the page's `StreetViewPanorama` lists, and its events say where it stands.
"""

import re
from dataclasses import replace
from typing import Self

from virl.errors import BadInput, NoStreetView
from virl.geo.globe import distance, normalize_heading, signed_turn
from virl.platform.city.streetview import Link, Pose, StreetView
from virl.platform.movers.web_browser import BrowserUnavailable, PagePanorama, StreetViewPage, WebSettings

__all__ = ["BrowserUnavailable", "WebMover", "WebSettings", "arrow_heading"]

_ROTATION = re.compile(r"\brotate\(\s*(-?\d+(?:\.\d*)?(?:e-?\d+)?)", re.IGNORECASE)


class WebMover:
    """A mover along the links of a street-view page. The browser opens when it is first needed.

    With `settings.arrows` it goes the way that V-IRL did: the headings of links are read from the arrows
    drawn, and a click on one moves. That depends on how a page happens to be drawn; it is there to compare.

    Args:
        streetview: where the neighbours are, for the length of links.
        settings: what the page loads; from the environment by default.
    """

    def __init__(self, streetview: StreetView, settings: WebSettings | None = None) -> None:
        self._streetview = streetview
        self._settings = settings or WebSettings.from_environment()
        self._opened: StreetViewPage | None = None
        self._links: dict[str, tuple[Link, ...]] = {}

    def links(self, pose: Pose) -> tuple[Link, ...]:
        """Return the links that leave a pose, by heading.

        Raises:
            NoStreetView: the pose stands at no panorama.
            BrowserUnavailable: there is no browser.
            ProviderError: the page does not load or does not answer.
        """
        if pose.pano_id not in self._links:
            shown = self._page.go(pose.pano_id, pose.heading)
            links = self._add_lengths(self._drawn_links(shown) if self._settings.arrows else shown)
            self._links[pose.pano_id] = tuple(sorted(links, key=lambda link: link.heading))
        return self._links[pose.pano_id]

    def take(self, pose: Pose, link: Link) -> Pose:
        """Return the pose at the other end of a link, facing the way it led."""
        if link not in self.links(pose):
            raise BadInput(f"no link to {link.pano_id!r} leaves panorama {pose.pano_id!r}")
        if not self._settings.arrows:
            return Pose(self._page.go(link.pano_id, link.heading).pano_id, link.heading)
        self._page.go(pose.pano_id, pose.heading)
        headings = self._arrow_headings()
        arrow = min(range(len(headings)), key=lambda one: abs(signed_turn(headings[one], link.heading)))
        return Pose(self._page.click(arrow).pano_id, link.heading)

    def close(self) -> None:
        """Close the browser; it opens again where it is needed again."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _page(self) -> StreetViewPage:
        """Page in its browser, opened when first needed."""
        if self._opened is None:
            self._opened = StreetViewPage(self._settings)
        return self._opened

    def _add_lengths(self, shown: PagePanorama) -> list[Link]:
        """Return the links with metres, without those to nowhere or, if set, indoors."""
        found = []
        for pano_id, heading in shown.links:
            try:
                end = self._streetview.panorama(pano_id)
            except NoStreetView:  # Google has taken it away
                continue
            if not (self._settings.outdoor and end.indoors):
                found.append(Link(pano_id, heading, distance(shown.position, end.position)))
        return found

    def _drawn_links(self, shown: PagePanorama) -> PagePanorama:
        """Return a panorama with only the links that have an arrow, by the arrow's heading."""
        links = {
            min(shown.links, key=lambda link: abs(signed_turn(heading, link[1])))[0]: heading
            for heading in self._arrow_headings()
            if shown.links
        }
        return replace(shown, links=tuple(links.items()))

    def _arrow_headings(self) -> list[float]:
        """Return the heading of each arrow drawn, degrees."""
        transforms, facing = self._page.arrows()
        return [arrow_heading(transform, facing) for transform in transforms]


def arrow_heading(transform: str, facing: float) -> float:
    """Return the heading of an arrow drawn into a view.

    Args:
        transform: of the arrow's element, as SVG or CSS write it; no rotation in it stands for 0.
        facing: heading of the view, degrees.

    Returns:
        Degrees clockwise from north, [0, 360).
    """
    rotation = _ROTATION.search(transform)
    return normalize_heading(facing + (float(rotation[1]) if rotation else 0.0))

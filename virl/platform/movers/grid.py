"""The `grid` mover finds neighbours by relocating on rings around a pose, and `hybrid` falls back on it.

The scheme is V-IRL's: positions are asked on headings all around and on rings of growing radius, and a
panorama found is a link unless one that was found before leads the same way. There it costs one request for
each heading and radius, at every step. Here all positions around a pose go in one request where the street
view takes many, nothing is asked twice, and a link found from one end is known at the other.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, cos, hypot, radians
from typing import Protocol, runtime_checkable

from virl.errors import BadInput
from virl.geo import globe
from virl.geo.globe import LatLng, LocalFrame, signed_turn
from virl.platform.city.streetview import Link, Panorama, Pose, StreetView
from virl.platform.movers.base import Mover

__all__ = ["BatchStreetView", "GridMover", "Rings"]

RELOCATE_RADIUS_M = 50.0  # Google's own where a request names none, as those of V-IRL do not
"""Radius in metres within which a street view looks for the panorama nearest to a position."""
SLACK_M = 0.01  # chosen: of two panoramas this near to a tie, either may be taken for the nearest
"""Distance in metres by which a circle may reach beyond another and still count as within it."""


@runtime_checkable
class BatchStreetView(Protocol):
    """A street view that finds the panoramas nearest to many positions at once."""

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
    """A position that was asked for, and the panorama nearest to it within `RELOCATE_RADIUS_M`, if any."""

    position: LatLng
    panorama: Panorama | None
    """Panorama nearest to the position; `None` without one within `RELOCATE_RADIUS_M`."""


class Survey:
    """A search for the panoramas nearest to positions around one, by earlier answers, inference or questions.

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
        """New answers, without those given earlier."""
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
        """Record a new answer, also in `gained`, and return its panorama."""
        answer = Answer(position, panorama)
        self.gained.append(answer)
        self._record(answer)
        return panorama

    def _record(self, answer: Answer) -> None:
        """Record an answer: its panorama, and a circle around the position without any other."""
        self._asked[answer.position] = answer.panorama
        x, y = self._frame.point(answer.position)
        radius = RELOCATE_RADIUS_M
        if answer.panorama is not None:
            there = self._meet(answer.panorama)
            radius = hypot(x - there[0], y - there[1])
        self._empty.append((x, y, radius))

    def _meet(self, panorama: Panorama) -> tuple[float, float]:
        """Record a panorama, and return its (x, y) in metres east and north of the surveyed one."""
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


MAX_REACH_M = 90.0  # what rings within RELOCATE_RADIUS_M find in any of eight directions
"""Largest distance in metres for `Rings.with_reach`."""


@dataclass(frozen=True, slots=True)
class Rings:
    """The headings and radii of the positions asked around a pose; by default those of V-IRL.

    A neighbour is found where a position asked is nearer to it than to the pose, so the farthest ring finds
    neighbours almost twice as far away: the defaults up to 16.6 m in any direction, 18 m on a heading asked.

    Args:
        headings: how many, evenly spread from north.
        radii: metres, ascending, each in (0, 50].
        heading_range: degrees; of neighbours that lie no farther apart than this the first found is kept.

    Raises:
        BadInput: a value is out of its range.
    """

    headings: int = 8
    """Number of headings asked, evenly spread from north on."""
    radii: tuple[float, ...] = (3.0, 6.0, 9.0)
    """Radii of the rings of positions, metres."""
    heading_range: float = 20.0
    """Largest angle in degrees from a known link's heading at which no position is asked."""

    def __post_init__(self) -> None:
        if self.headings < 3:
            raise BadInput(f"a grid needs at least three headings, not {self.headings}")
        if not self.radii or sorted(set(self.radii)) != list(self.radii):
            raise BadInput(f"the radii of a grid must ascend: {self.radii}")
        if not 0 < self.radii[0] <= self.radii[-1] <= RELOCATE_RADIUS_M:
            raise BadInput(f"the radii of a grid must be in (0, {RELOCATE_RADIUS_M:g}] metres: {self.radii}")
        if not 0 <= self.heading_range < 180:
            raise BadInput(f"the heading range {self.heading_range:g} is outside [0, 180) degrees")

    @classmethod
    def with_reach(cls, metres: float, spacing: float = 3.0) -> "Rings":
        """Return rings that find neighbours up to `metres` away in any direction.

        Args:
            metres: in (0, 90].
            spacing: metres from ring to ring.

        Raises:
            BadInput: a value is out of its range.
        """
        if not 0 < metres <= MAX_REACH_M:
            raise BadInput(f"the reach {metres:g} is outside (0, {MAX_REACH_M:g}] metres")
        # The farthest from any heading asked is halfway between two of the eight.
        count = ceil(metres / (2 * cos(radians(180 / 8))) / spacing)
        return cls(radii=tuple(min(spacing * (ring + 1), RELOCATE_RADIUS_M) for ring in range(count)))

    @property
    def reach(self) -> float:
        """Distance in metres within which any neighbour is found, unless another lies before it."""
        return 2 * self.radii[-1] * cos(radians(180 / self.headings))

    def rays(self, center: LatLng) -> list[tuple[float, list[LatLng]]]:
        """Return (heading in degrees, positions to ask along it, the nearest first) of all headings."""
        headings = [360.0 * ray / self.headings for ray in range(self.headings)]
        return [
            (heading, [globe.destination(center, heading, radius) for radius in self.radii])
            for heading in headings
        ]


class GridMover:
    """A mover to neighbours found on rings around a pose.

    It needs nothing of a street view but `nearest` and `panorama`; links that the provider lists are not
    looked at. A `BatchStreetView` gets one request for each panorama that is left for the first time.

    Args:
        streetview: where to relocate.
        rings: where to ask around a pose.
    """

    def __init__(self, streetview: StreetView, rings: Rings | None = None) -> None:
        self._streetview = streetview
        self._rings = rings or Rings()
        self._panoramas: dict[str, Panorama] = {}
        self._links: dict[str, dict[str, Link]] = {}
        self._answers: dict[str, list[Answer]] = {}

    def links(self, pose: Pose) -> tuple[Link, ...]:
        """Return the links that leave a pose, by heading; the grid is asked at each panorama once."""
        here = self._panorama(pose.pano_id)
        if here.id not in self._answers:
            self._answers[here.id] = self._explore(here)
        return tuple(sorted(self._links_known_at(here.id).values(), key=lambda link: link.heading))

    def take(self, pose: Pose, link: Link) -> Pose:
        """Return the pose after moving along a link, facing the way the link led."""
        if link not in self.links(pose):
            raise BadInput(f"no link to {link.pano_id!r} leaves panorama {pose.pano_id!r}")
        return Pose(self._panorama(link.pano_id).id, link.heading)

    def learn(self, pano_id: str, links: Iterable[Link]) -> None:
        """Add links of a panorama from another source, so that their headings are not asked again."""
        self._links_known_at(pano_id).update((link.pano_id, link) for link in links)

    def _panorama(self, pano_id: str) -> Panorama:
        """Return a panorama, fetched once."""
        if pano_id not in self._panoramas:
            self._panoramas[pano_id] = self._streetview.panorama(pano_id)
        return self._panoramas[pano_id]

    def _links_known_at(self, pano_id: str) -> dict[str, Link]:
        """Return the links known to leave a panorama, by the id of the panorama led to."""
        return self._links.setdefault(pano_id, {})

    def _explore(self, here: Panorama) -> list[Answer]:
        """Ask around a panorama, link it with those found, and return the answers."""
        known = self._links_known_at(here.id)
        survey = Survey(
            self._streetview, here, [answer for near in known for answer in self._answers.get(near, ())]
        )
        rays = self._rings.rays(here.position)
        survey.ask_together([at for heading, ray in rays if not self._covers(known, heading) for at in ray])
        for heading, ray in rays:
            self._ask_along(here, heading, ray, survey)
        return survey.gained

    def _ask_along(self, here: Panorama, heading: float, ray: Sequence[LatLng], survey: Survey) -> None:
        """Link a panorama with the first one found on a ray, unless a link leads that way already."""
        known = self._links_known_at(here.id)
        if self._covers(known, heading):
            return
        survey.nearest(ray[-1])  # where the far end leads back here, so does all before it, for one request
        for position in ray:
            if self._covers(known, heading):
                return
            found = survey.nearest(position)
            if found is None or found.id in {here.id, *known}:
                continue
            if not self._covers(known, globe.bearing(here.position, found.position)):
                self._join(here, found)

    def _covers(self, known: Mapping[str, Link], heading: float) -> bool:
        """Return whether one of the known links leads within `heading_range` degrees of a heading."""
        turns = (abs(globe.signed_turn(heading, link.heading)) for link in known.values())
        return any(turn <= self._rings.heading_range for turn in turns)

    def _join(self, here: Panorama, there: Panorama) -> None:
        """Link two panoramas in both directions."""
        metres = globe.distance(here.position, there.position)
        for a, b in ((here, there), (there, here)):
            self._panoramas.setdefault(a.id, a)
            self._links_known_at(a.id).setdefault(
                b.id, Link(b.id, globe.bearing(a.position, b.position), metres)
            )


HEADING_RANGE = 30.0  # degrees; V-IRL's general configuration
"""Largest angle in degrees from the wanted heading to a listed link that makes the grid unnecessary."""


class HybridMover:
    """A mover along another mover's links, and along the grid's where none of these leads the wanted way.

    Once the grid was asked at a panorama, the links it found stay.

    Args:
        first: the mover asked first, `links` or `web`.
        grid: the mover asked where `first` has no link within `heading_range` of the wanted heading.
        heading_range: degrees.
    """

    def __init__(self, first: Mover, grid: GridMover, heading_range: float = HEADING_RANGE) -> None:
        self._first = first
        self._grid = grid
        self._heading_range = heading_range
        self._gridded: set[str] = set()

    def links(self, pose: Pose, toward: float | None = None) -> tuple[Link, ...]:
        """Return the links that leave a pose, by heading; asks the grid if none leads the wanted way.

        Args:
            pose: where to leave from.
            toward: the wanted heading in degrees; the pose's own by default.

        Raises:
            NoStreetView: the pose stands at no panorama.
        """
        listed = self._first.links(pose)
        wanted = pose.heading if toward is None else toward
        covered = any(abs(signed_turn(wanted, link.heading)) <= self._heading_range for link in listed)
        if pose.pano_id not in self._gridded:
            if covered:
                return listed
            self._grid.learn(pose.pano_id, listed)
            self._gridded.add(pose.pano_id)
        return self._grid.links(pose)

    def take(self, pose: Pose, link: Link) -> Pose:
        """Return the pose after moving along a link, facing the way the link led."""
        if link in self._first.links(pose):
            return self._first.take(pose, link)
        if pose.pano_id not in self._gridded:
            raise BadInput(f"no link to {link.pano_id!r} leaves panorama {pose.pano_id!r}")
        return self._grid.take(pose, link)

"""The `grid` mover finds neighbours by relocating on rings around a pose, and `hybrid` falls back on it.

The scheme is V-IRL's: positions are asked on headings all around and on rings of growing radius, and a
panorama found is a link unless one that was found before leads the same way. There it costs one request for
each heading and radius, at every step. Here all positions around a pose go in one request where the street
view takes many, nothing is asked twice, and a link found from one end is known at the other.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, cos, hypot, radians
from typing import Protocol, runtime_checkable

from virl.errors import BadInput
from virl.geo import globe
from virl.geo.globe import LatLng, LocalFrame, signed_turn
from virl.platform.city.streetview import Link, Panorama, Pose, StreetView
from virl.platform.movers.base import Mover

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
        """Return the panorama nearest to each position within `radius` metres, in order; else `None`.

        Raises:
            BadInput: the radius is out of its range.
        """
        ...


def relocate(streetview: StreetView, positions: Sequence[LatLng], radius: float) -> Sequence[Panorama | None]:
    """Return the panorama nearest to each position within `radius` metres, in order; `None` where none is.

    Args:
        streetview: street view to ask; a `BatchStreetView` gets all positions in one request.
        positions: in any order; none asks nothing.
        radius: metres, in (0, 1000].

    Raises:
        BadInput: the radius is out of its range.
    """
    if positions and isinstance(streetview, BatchStreetView):
        return streetview.nearest_many(positions, radius)
    return [streetview.nearest(position, radius) for position in positions]


@dataclass(frozen=True, slots=True)
class Answer:
    """A position that was asked for, and the panorama nearest to it."""

    position: LatLng
    panorama: Panorama | None
    """Panorama nearest to the position; `None` without one within `RELOCATE_RADIUS_M`."""


class Survey:
    """A finder of the panoramas nearest to positions around one; asks street view what it cannot infer.

    No panorama is nearer to a position than its answer. So where another panorama is known, and the circle
    around a second position that goes through it lies within the first circle, it is the answer there too.
    This holds as far as the street view keeps to its contract and gives the nearest.
    """

    def __init__(self, streetview: StreetView, here: Panorama, earlier: Iterable[Answer] = ()) -> None:
        """Begin at the panorama `here`, with the answers that were given around its neighbours."""
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
        """Ask in one request for the positions that cannot be inferred, if the street view takes many."""
        if not isinstance(self._streetview, BatchStreetView):
            return
        unknown = [position for position in positions if self._infer_panorama(position) is None]
        if unknown:
            found = self._streetview.nearest_many(unknown, RELOCATE_RADIUS_M)
            for position, panorama in zip(unknown, found, strict=True):
                self._gain(position, panorama)

    def _gain(self, position: LatLng, panorama: Panorama | None) -> Panorama | None:
        """Record the answer of the street view for a position, also in `gained`, and return its panorama."""
        answer = Answer(position, panorama)
        self.gained.append(answer)
        self._record(answer)
        return panorama

    def _record(self, answer: Answer) -> None:
        """Record an answer: its panorama, and the circle around its position that holds no other."""
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
        # The circle to the nearest known panorama lies within one that is known to hold no other.
        follows = (hypot(x - cx, y - cy) + away <= radius + SLACK_M for cx, cy, radius in self._empty)
        return panorama if any(follows) else None


MAX_REACH_M = 90.0  # what rings within RELOCATE_RADIUS_M find in any of eight directions
"""Largest distance in metres that `Rings.with_reach` takes."""


@dataclass(frozen=True, slots=True)
class Rings:
    """The headings and radii of the positions asked around a pose; by default those of V-IRL.

    A neighbour is found where a position asked is nearer to it than to the pose, so the farthest ring finds
    neighbours almost twice as far away: the defaults up to 16.6 m in any direction, 18 m on a heading asked.

    Raises:
        BadInput: a value is out of its range.
    """

    headings: int = 8
    """Number of headings asked, evenly spread from north on; at least 3."""
    radii: tuple[float, ...] = (3.0, 6.0, 9.0)
    """Radii of the rings of positions in metres, ascending, each in (0, 50]."""
    heading_range: float = 20.0
    """Largest angle in degrees from a known link's heading at which nothing is asked, [0, 180)."""

    def __post_init__(self) -> None:
        """Check that each value is in its range."""
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
        """Return rings, `spacing` metres apart, that find neighbours up to `metres` away in any direction.

        Raises:
            BadInput: the metres are not in (0, 90].
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
        """Return (heading in degrees, positions along it to ask, the nearest first) for each heading."""
        headings = [360.0 * ray / self.headings for ray in range(self.headings)]
        return [
            (heading, [globe.destination(center, heading, radius) for radius in self.radii])
            for heading in headings
        ]


class GridMover:
    """A mover to neighbours found on rings around a pose.

    It needs nothing of a street view but `nearest` and `panorama`; links that the provider lists are not
    looked at. A `BatchStreetView` gets one request for each panorama that is left for the first time.
    """

    def __init__(self, streetview: StreetView, rings: Rings | None = None) -> None:
        """Begin with no position asked for; `rings` gives those to ask around a pose, by default V-IRL's."""
        self._streetview = streetview
        self._rings = rings or Rings()
        self._panoramas: dict[str, Panorama] = {}
        self._links: dict[str, dict[str, Link]] = {}
        self._answers: dict[str, list[Answer]] = {}

    def links(self, pose: Pose) -> tuple[Link, ...]:
        """Return the links that leave a pose's panorama, sorted by heading; searches each panorama once."""
        here = self._panorama(pose.pano_id)
        if here.id not in self._answers:
            self._answers[here.id] = self._find_links(here)
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

    def _find_links(self, here: Panorama) -> list[Answer]:
        """Link a panorama with its neighbours on the rings, and return the new answers."""
        known = self._links_known_at(here.id)
        # Neighbours asked close by: many positions around here follow from their answers.
        survey = Survey(
            self._streetview, here, [answer for near in known for answer in self._answers.get(near, ())]
        )
        rays = self._rings.rays(here.position)
        survey.ask_together([at for heading, ray in rays if not self._covers(known, heading) for at in ray])
        for heading, ray in rays:
            self._ask_along(here, heading, ray, survey)
        return survey.gained

    def _ask_along(self, here: Panorama, heading: float, ray: Sequence[LatLng], survey: Survey) -> None:
        """Link a panorama with neighbours found along a ray, nearest first, until a link leads that way."""
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
            # What lies the way of a known link is a neighbour of its end, not of this panorama.
            if not self._covers(known, globe.bearing(here.position, found.position)):
                metres = globe.distance(here.position, found.position)
                for a, b in ((here, found), (found, here)):
                    self._panoramas.setdefault(a.id, a)
                    link = Link(b.id, globe.bearing(a.position, b.position), metres)
                    self._links_known_at(a.id).setdefault(b.id, link)

    def _covers(self, known: Mapping[str, Link], heading: float) -> bool:
        """Return whether one of the known links leads within `heading_range` degrees of a heading."""
        turns = (abs(globe.signed_turn(heading, link.heading)) for link in known.values())
        return any(turn <= self._rings.heading_range for turn in turns)


HEADING_RANGE = 30.0  # degrees; V-IRL's general configuration
"""Largest angle in degrees from the wanted heading to a listed link that makes the grid unnecessary."""


@dataclass(eq=False)
class HybridMover:
    """A mover along another mover's links, and along a grid's where no link leads the wanted way.

    Once the grid was asked at a panorama, the links it found stay.
    """

    first: Mover
    """Mover that is asked first, `links` or `web`."""
    grid: GridMover
    """Mover that is asked where `first` has no link within `heading_range` of the wanted heading."""
    heading_range: float = HEADING_RANGE
    """Largest angle in degrees from the wanted heading to a link that makes the grid unnecessary."""
    _gridded: set[str] = field(default_factory=set)
    """Ids of the panoramas at which the grid was asked."""

    def links(self, pose: Pose, toward: float | None = None) -> tuple[Link, ...]:
        """Return a pose's links, and the grid's if none leads to heading `toward`, by default the pose's."""
        listed = self.first.links(pose)
        wanted = pose.heading if toward is None else toward
        covered = any(abs(signed_turn(wanted, link.heading)) <= self.heading_range for link in listed)
        if pose.pano_id not in self._gridded:
            if covered:
                return listed
            self.grid.learn(pose.pano_id, listed)
            self._gridded.add(pose.pano_id)
        return self.grid.links(pose)

    def take(self, pose: Pose, link: Link) -> Pose:
        """Return the pose after moving along a link, facing the way the link led."""
        if link in self.first.links(pose):
            return self.first.take(pose, link)
        if pose.pano_id not in self._gridded:
            raise BadInput(f"no link to {link.pano_id!r} leaves panorama {pose.pano_id!r}")
        return self.grid.take(pose, link)

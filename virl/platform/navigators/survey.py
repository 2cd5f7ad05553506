"""Which panoramas lie in a region, asked by relocating alone, and written down one record a line.

First on a grid of positions. A panorama is found there only if it is the nearest to one of them, which leaves
out some wherever panoramas stand closer than the grid. So the links of what was found are followed: where one
leads to a panorama not met yet, that position is relocated too, in as few batches as the grid. The records
are described in `docs/reference/movement.md`.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from virl.errors import BadInput
from virl.files.json_reading import JsonRecord
from virl.files.writing import JsonLines
from virl.geo import globe
from virl.geo.globe import LatLng
from virl.geo.region import Region
from virl.platform.city.streetview import Link, Panorama, StreetView
from virl.platform.movers.grid import RELOCATE_RADIUS_M, BatchStreetView, relocate

FORMAT = 1
"""Version of the survey file's format; a file of another version is refused."""


class SurveyPlan(JsonRecord):
    """The first record of a survey file: the region and settings of its search for panoramas."""

    kind: Literal["plan"] = "plan"
    format: int = FORMAT
    corners: tuple[LatLng, ...]
    spacing: float
    """Distance in metres between the positions of the grid."""
    radius: float
    """Radius in metres in which the panorama nearest to each position is sought."""
    follow_links: bool
    """True if the positions at the ends of links are asked for, too."""


class SurveyedPanorama(JsonRecord):
    """A panorama's id, position and links, as a survey file keeps them."""

    id: str
    position: LatLng
    links: tuple[tuple[str, float, float], ...] = ()
    """(id of the panorama led to, heading in degrees, metres) of each link."""

    @classmethod
    def of(cls, panorama: Panorama) -> "SurveyedPanorama":
        """Return the record of a panorama."""
        links = tuple((link.pano_id, link.heading, link.distance) for link in panorama.links)
        return cls(id=panorama.id, position=panorama.position, links=links)

    def to_links(self) -> list[Link]:
        """Return the links as `Link` objects."""
        return [Link(*link) for link in self.links]


class Batch(JsonRecord):
    """Positions asked for together, with the panorama nearest to each, as a record of a survey file."""

    kind: Literal["batch"] = "batch"
    asked: tuple[LatLng, ...]
    """Positions for which the nearest panorama was asked."""
    nearest: tuple[str | None, ...]
    """Ids of the nearest panoramas, in the order of `asked`; null where none is near."""
    new: tuple[SurveyedPanorama, ...]
    """Panoramas that no earlier batch has found."""


class Ordered(JsonRecord):
    """The order in which a walk visits panoramas, as a record of a survey file."""

    kind: Literal["order"] = "order"
    start: str
    """Id of the panorama where the walk started; it need not be in the region."""
    ids: tuple[str, ...]
    """Ids of the panoramas in the order to visit them."""


AnyRecord = Annotated[SurveyPlan | Batch | Ordered, Field(discriminator="kind")]
RECORD: TypeAdapter[SurveyPlan | Batch | Ordered] = TypeAdapter(AnyRecord)


SPACING_M = 20.0  # V-IRL's
"""Distance in metres between the positions of the grid, if the caller sets none."""
BATCH = 100  # positions that Google takes in one request
"""Largest number of positions in one request."""

Progress = Callable[[int, int, int], None]
"""A function called with (positions asked, those to ask in all as far as known, panoramas found)."""


class SurveyStore:
    """The batches and orders of a survey, in memory and, with a file, on disk.

    A last line that was cut off, as a kill leaves it, is dropped.

    Raises:
        BadInput: the file is no survey file, or is one of another plan.
        CannotWrite: the disk refuses.
    """

    def __init__(self, plan: SurveyPlan, file: Path | None = None) -> None:
        """Load the records of the survey file, or begin it with the plan; with `None` nothing is kept."""
        self._lines = None if file is None else JsonLines(file, "continue the survey", sync=False)
        self.batches: list[Batch] = []
        """Batches asked so far, in order."""
        self.orders: list[Ordered] = []
        """The orders of walks recorded so far, the latest last."""
        if self._lines is not None:
            self._load(self._lines, plan)
            if not self._lines.count:
                self._lines.append(plan.model_dump_json())

    def add(self, record: Batch | Ordered) -> None:
        """Add a record, which is on disk before this returns if the store has a file.

        Raises:
            CannotWrite: the disk refuses; nothing is kept.
        """
        if self._lines is not None:
            self._lines.append(record.model_dump_json())
        self._hold(record)

    def _hold(self, record: Batch | Ordered) -> None:
        """Hold a record in memory, among the batches or the orders."""
        if isinstance(record, Batch):
            self.batches.append(record)
        else:
            self.orders.append(record)

    def _load(self, lines: JsonLines, plan: SurveyPlan) -> None:
        """Load the records of a file, if any; raise `BadInput` if they begin with another plan."""

        def check_line(line: bytes) -> SurveyPlan | Batch | Ordered:
            """Return the record of a line; raise an error unless the first line alone is a plan."""
            record = RECORD.validate_json(line)
            if isinstance(record, SurveyPlan) != (lines.count == 0):
                raise ValueError("the plan must be the first record, and the only plan")
            if isinstance(record, SurveyPlan) and record.format != FORMAT:
                raise ValueError(f"format {record.format} is not {FORMAT}")
            return record

        for record in lines.read(check_line, mend=": give another file, or delete this one"):
            if not isinstance(record, SurveyPlan):
                self._hold(record)
            elif record != plan:
                raise BadInput(
                    f"{lines.path}: was written for another region, spacing or radius: give another file"
                )


def survey(
    streetview: StreetView,
    region: Region,
    *,
    spacing: float = SPACING_M,
    radius: float = RELOCATE_RADIUS_M,
    follow_links: bool = True,
    file: Path | None = None,
    progress: Progress | None = None,
) -> "RegionSurvey":
    """Return the panoramas of a region, sought within `radius` of a grid's positions and ends of links.

    Args:
        streetview: street view to ask; a `BatchStreetView` gets up to 100 positions in a request.
        region: polygon in which panoramas are searched for.
        spacing: metres between the positions of the grid, above 0.
        radius: metres around a position within which its panorama lies, in (0, 1000].
        follow_links: whether positions at the ends of links found are asked for too.
        file: survey file in which answers are kept, so that none is asked again; `None` keeps nothing.
        progress: function called after every batch; `None` for none.

    Raises:
        BadInput: a value is out of its range, or the file is of another survey.
    """
    plan = SurveyPlan(corners=region.corners, spacing=spacing, radius=radius, follow_links=follow_links)
    done = RegionSurvey(region, SurveyStore(plan, file))
    grid = region.grid(spacing)
    waiting = grid
    size = BATCH if isinstance(streetview, BatchStreetView) else 1
    while waiting:
        for first in range(0, len(waiting), size):
            positions = waiting[first : first + size]
            unknown = done.unknown(positions)
            if unknown:
                done.keep(unknown, relocate(streetview, unknown, radius))
            done.take(positions)
            if progress:
                progress(done.relocated_count, max(len(grid), done.relocated_count), len(done.found))
        waiting = done.leads() if follow_links else []
    return done


class RegionSurvey:
    """The panoramas found in a region, and the nearest panorama to each position asked.

    It is taken in the same order whether its answers were kept or are new, so that a survey that was killed
    ends as one that was not.
    """

    def __init__(self, region: Region, store: SurveyStore) -> None:
        """Begin with no panorama of the region found; the answers that the store keeps are known at once."""
        self.region = region
        self.store = store
        self.found: dict[str, SurveyedPanorama] = {}
        """Panoramas found in the region by id, in the order found."""
        self._asked: set[LatLng] = set()
        self._met: set[str] = set()
        self._unfollowed: list[SurveyedPanorama] = []
        self._nearest: dict[LatLng, str | None] = {}
        self._panoramas: dict[str, SurveyedPanorama] = {}
        for batch in store.batches:
            self._remember(batch)

    @property
    def relocated_count(self) -> int:
        """Number of positions that were taken into the survey."""
        return len(self._asked)

    def unknown(self, positions: Iterable[LatLng]) -> list[LatLng]:
        """Return the positions whose nearest panorama is not stored yet."""
        return [position for position in positions if position not in self._nearest]

    def keep(self, positions: Sequence[LatLng], panoramas: Sequence[Panorama | None]) -> None:
        """Keep the answers for positions asked: the panorama nearest to each, or `None`, in order."""
        met = {one.id: one for one in panoramas if one is not None}
        new = tuple(
            SurveyedPanorama.of(one) for pano_id, one in met.items() if pano_id not in self._panoramas
        )
        nearest = tuple(one.id if one else None for one in panoramas)
        batch = Batch(asked=tuple(positions), nearest=nearest, new=new)
        self.store.add(batch)
        self._remember(batch)

    def take(self, positions: Sequence[LatLng]) -> None:
        """Take positions into the survey, and count the panoramas stored for them in the region as found."""
        self._asked.update(positions)
        for pano_id in map(self._nearest.__getitem__, positions):
            if pano_id is None or pano_id in self._met:
                continue
            self._met.add(pano_id)
            if self.region.contains(self._panoramas[pano_id].position):
                self.found[pano_id] = self._panoramas[pano_id]
                self._unfollowed.append(self._panoramas[pano_id])

    def leads(self) -> list[LatLng]:
        """Return positions to ask in the region: the ends of links of panoramas found since the last call."""
        ends: dict[str, LatLng] = {}
        for here in self._unfollowed:
            for link in here.to_links():
                end = globe.destination(here.position, link.heading, link.distance)
                if link.pano_id not in self._met and self.region.contains(end):
                    ends.setdefault(link.pano_id, end)
        self._unfollowed.clear()
        # Links may end at one position: it is asked for once.
        return [end for end in dict.fromkeys(ends.values()) if end not in self._asked]

    def _remember(self, batch: Batch) -> None:
        """Add the answers and panoramas of a batch to those known."""
        self._nearest.update(zip(batch.asked, batch.nearest, strict=True))
        self._panoramas.update((one.id, one) for one in batch.new)

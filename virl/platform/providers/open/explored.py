"""The panorama graph of shared pictures as far as it is known: all of a district, or more as one walks."""

import hashlib
import json
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from virl.files.writing import write_whole
from virl.geo.globe import LatLng
from virl.geo.region import Region
from virl.osm.box import box_around
from virl.platform.providers.open.cells import Cell, cells_around, cells_of
from virl.platform.providers.open.shots import Shot, ShotLists, pictures_of
from virl.platform.providers.pictures.credit import credit_line
from virl.platform.providers.pictures.graph import PictureGraph, picture_graph

EDGE_M = 60.0
"""Metres to the edge of the known pictures below which more are asked for; chosen: twice a link."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Extent:
    """The area and time whose pictures are wanted."""

    start: LatLng
    """Position whose nearest panorama decides which part of the graph is kept."""
    region: Region | None
    """Region that is asked for at once; `None` to ask for more on the way."""
    reach_m: float
    """Metres around the start that are known at first, without a region."""
    as_of: date | None = None
    """Last day on which pictures may have been taken; later ones are left out."""


class _State(BaseModel):
    """The squares and panoramas that a run has seen, kept so that the next run finds the same."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    cells: tuple[tuple[int, int, int], ...]
    """Squares as (zoom, column, row)."""
    panoramas: tuple[str, ...]
    """Ids of the panoramas in the graph."""


class Explored:
    """A panorama graph that is built on first use and grows on the way. Safe for several threads.

    Args:
        lists: gives the pictures of squares.
        extent: which are wanted.
        ways: walkable ways, split at their junctions, which pictures are placed on.
        folder: where it is kept what has been seen; `None` keeps nothing.
        may_keep: whether pictures of an author, under a licence, may be kept and passed on; others are
            left out.
    """

    def __init__(
        self,
        lists: ShotLists,
        extent: Extent,
        ways: Sequence[Sequence[LatLng]] = (),
        folder: Path | None = None,
        may_keep: Callable[[str, str], bool] = lambda *_: True,
    ) -> None:
        self._lists = lists
        self._may_keep = may_keep
        self._extent = extent
        self._ways = ways
        self._file = folder / f"{_digest(extent)}.json" if folder and extent.region is None else None
        self._cells: set[Cell] = set()
        self._shots: dict[str, Shot] = {}
        self._made: PictureGraph | None = None
        self._lock = threading.RLock()

    @property
    def graph(self) -> PictureGraph:
        """The graph as far as it is known now; built if there is none yet.

        Raises:
            NoStreetView: there are no pictures.
            ProviderError: the service fails.
        """
        with self._lock:
            if self._made is None:
                self._begin()
            assert self._made is not None  # noqa: S101  # `_begin` has made it
            return self._made

    def graph_around(self, position: LatLng) -> PictureGraph:
        """Return the graph, grown first if a position is near the edge of what is known.

        Raises:
            NoStreetView: there are no pictures.
            ProviderError: the service fails.
        """
        with self._lock:
            made = self.graph
            if self._extent.region is None and (more := cells_around(position, EDGE_M) - self._cells):
                made = self._grow(more, tuple(made.graph.ids))
                self._save(made)
            return made

    def credits(self) -> str:
        """Return a line of the authors and licences of all known panoramas; asks nothing."""
        with self._lock:
            return credit_line(self._made.pictures.values(), "Pictures by", most=None) if self._made else ""

    def shot(self, pano_id: str) -> Shot:
        """Return the shared picture of a panorama in the graph."""
        with self._lock:
            return self._shots[pano_id]

    def _begin(self) -> None:
        """Build the first graph: of the region, or around the start and what earlier runs have seen."""
        extent = self._extent
        if extent.region:
            self._grow(cells_of(box_around(extent.region)))
            return
        state = self._load_state()
        first = cells_around(extent.start, extent.reach_m)
        kept = {Cell(*one) for one in state.cells} if state else set()
        self._save(self._grow(first | kept, state.panoramas if state else ()))

    def _grow(self, cells: set[Cell], known: tuple[str, ...] = ()) -> PictureGraph:
        """Return the graph with the pictures of more squares; `known` panoramas stay in it."""
        region = self._extent.region
        listed = [shot for cell in sorted(cells) for shot in self._lists.of(cell)]
        inside = [shot for shot in listed if region is None or region.contains(shot.position)]
        shown = {shot.id: shot for shot in inside if self._may_keep(shot.author, shot.licence)}
        if len(shown) < len(inside):
            _log.warning(
                "%d of %d pictures are left out: they name no author, or no licence that allows to keep and "
                "share them",
                len(inside) - len(shown),
                len(inside),
            )
        self._shots |= shown
        self._cells |= cells
        as_of = self._extent.as_of
        self._made = picture_graph(
            pictures_of(self._shots.values()),
            start=self._extent.start,
            ways=self._ways,
            as_of=datetime.combine(as_of, time.max, UTC) if as_of else None,
            known=known,
        )
        _log.info("%d pictures, %d panoramas", len(self._shots), len(self._made.graph))
        return self._made

    def _load_state(self) -> _State | None:
        """Return what earlier runs have seen; `None` if nothing readable is kept."""
        try:
            return _State.model_validate_json(self._file.read_bytes()) if self._file else None
        except (OSError, ValidationError):
            return None

    def _save(self, made: PictureGraph) -> None:
        """Keep the squares and panoramas seen so far in a file."""
        if self._file:
            state = _State(
                cells=tuple((cell.zoom, cell.x, cell.y) for cell in sorted(self._cells)),
                panoramas=made.graph.ids,
            )
            write_whole(self._file, state.model_dump_json().encode(), "run it again")


def _digest(extent: Extent) -> str:
    """Return a hash that names the file of an extent."""
    told = [*extent.start, extent.reach_m, str(extent.as_of)]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:24]

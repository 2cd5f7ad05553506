"""The runs that a page shows: those in the folders that a user names, what is told of each, and its card."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, Protocol

from virl.agent.control import Control
from virl.bench.records import RECORDS, SETTINGS
from virl.errors import BadInput, JournalBroken, VirlError
from virl.files.writing import is_inside, read_bounded
from virl.geo.globe import LatLng
from virl.journal.folder import CONSULTED
from virl.journal.journal import JOURNAL, JournalTail
from virl.journal.records import AnyRecord, NoteRecord, StepRecord
from virl.journal.report import moment
from virl.pages.paper import Point
from virl.plain_text import plain_tree
from virl.serve.watch.episodes import EpisodeTold, read_episodes
from virl.serve.watch.telling import Grounds, RunBrief, Teller

MOST_VIEW = 10_000_000
"""Bytes of a view that is shown; chosen, three times the largest that virl writes."""
CARD_POINTS = 60
"""Most points of the way on a card; chosen."""
_MEDIA = {b"\xff\xd8\xff": "image/jpeg", b"\x89PNG\r\n\x1a\n": "image/png"}


class Feed(Protocol):
    """A run that is shown."""

    @property
    def folder(self) -> Path:
        """The folder with the files of its views."""

    @property
    def began(self) -> str:
        """The time at which it began, ISO 8601; empty where that is not known."""

    @property
    def fault(self) -> str:
        """The reason that no more of it can be read; empty if it can."""

    @property
    def control(self) -> Control | None:
        """The control of a run that goes on in this process and can be steered."""

    def read_records(self, after: int = 0) -> Sequence[dict[str, Any]]:
        """Return the records of the run from number `after` on; what was written since is read now."""

    def state(self) -> dict[str, Any]:
        """Return the state of the run, besides its records."""

    def files(self) -> dict[str, str]:
        """Return all views told so far, by the number of their record and theirs in it, such as `12/0`."""

    def picture(self, seq: int, number: int) -> bytes | None:
        """Return a view that the journal names, as JPEG or PNG; `None` if there is none.

        Args:
            seq: number of its record, from 0.
            number: of the view in the record, from 0.
        """

    def card(self) -> dict[str, Any]:
        """Return the card of the run in a list of runs."""


Index = Callable[[], list[dict[str, Any]]]
"""A function that gives a card for each run."""


def cards_of(feeds: Mapping[int, Feed]) -> list[dict[str, Any]]:
    """Return a card for each of some runs, in the order of their numbers."""
    return [{"run": run} | feed.card() for run, feed in sorted(feeds.items())]


class RunFeed:
    """A run that is shown: in its folder, where it may still go on.

    Args:
        folder: the run's; its journal may be written by another process.
        grounds: of its city.
        control: of a run that goes on in this process; its journal may still be missing.
    """

    def __init__(self, folder: Path, grounds: Grounds, control: Control | None = None) -> None:
        self.folder = folder
        self.control = control
        self.episode: EpisodeTold | None = None
        """Episode of a benchmark that the run is of."""
        self.fault = ""
        """Reason that no more of it can be read; empty if it can."""
        self._tail = JournalTail(folder)
        self._teller = Teller(grounds)
        self._untold: list[AnyRecord] = []
        """The records that were read and that no open page has been told."""
        self._told: list[dict[str, Any]] = []
        self._files: list[tuple[str, ...]] = []
        self._brief = RunBrief(folder.name)
        self._lock = Lock()

    @property
    def began(self) -> str:
        """The time at which it began; empty where its journal does not tell."""
        with self._lock:
            self._read()
            return self._brief.began

    @property
    def is_over(self) -> bool:
        """Return whether all of the run is told."""
        return self._tail.is_over

    def read_records(self, after: int = 0) -> Sequence[dict[str, Any]]:
        """Return the records of the run from number `after` on; what was written since is read now."""
        with self._lock:
            self._read()
            self._told += map(self._teller.tell, self._untold)
            self._untold = []
            return self._told[after:]

    def _read(self) -> None:
        """Read what was written since; a list of a thousand runs tells none of it in full."""
        try:
            for record in self._tail.read_new() if self._may_grow() else ():
                self._untold.append(record)
                self._brief.take(record)
                views = record.views if isinstance(record, StepRecord | NoteRecord) else ()
                self._files.append(tuple(view.file for view in views))
        except JournalBroken as fault:
            self.fault = str(fault)

    def _may_grow(self) -> bool:
        """Return whether there may be new records: the journal is there and has not ended."""
        if self.fault or self._tail.is_over:
            return False
        return self.control is None or (self.folder / JOURNAL).exists()

    def state(self) -> dict[str, Any]:
        """Return the state of the run, besides its records."""
        if self.control is None:
            return {"fault": self.fault, "control": None}
        standing = self.control.snapshot()
        pose = standing.pose
        at = self._brief.place(LatLng(pose.lat, pose.lng)) if pose else None
        return {"fault": self.fault, "control": plain_tree(standing.model_dump() | {"at": at})}

    def files(self) -> dict[str, str]:
        """Return all views told so far, by the number of their record and theirs in it, such as `12/0`."""
        return _by_place(self._files)

    def picture(self, seq: int, number: int) -> bytes | None:
        """Return a picture of a record, `None` if it has none."""
        return _picture(self.folder, self._files, seq, number)

    def card(self) -> dict[str, Any]:
        """Return the card of the run in a list of runs."""
        with self._lock:
            self._read()
            brief = self._brief
            state = "failed" if self.fault else "ended" if self.is_over else "open"
            path = _thin_way(brief.points)
            if self.episode:
                return card_of_episode(path, self.episode) | {"state": state}
            where = f" in {brief.city}" if brief.city else ""
            card = {
                "title": f"{brief.who}{where}",
                "about": moment(brief.began) if brief.began else "",
                "note": self.fault or brief.title,
                "state": state,
                "score": None,
                "group": "",
                "path": path,
            }
        tree: Any = plain_tree(card)
        return dict(tree)


class EpisodeFeed:
    """An episode of a benchmark that is shown as a run.

    Args:
        episode: what is told of it.
    """

    fault = ""
    control = None

    def __init__(self, episode: EpisodeTold) -> None:
        self.folder = episode.folder
        self.began = datetime.fromtimestamp(self.folder.stat().st_mtime, UTC).isoformat()
        self._episode = episode

    def read_records(self, after: int = 0) -> Sequence[dict[str, Any]]:
        """Return the records of the episode from number `after` on."""
        return self._records[0][after:]

    def state(self) -> dict[str, Any]:
        """Return the state of the episode: without fault and control."""
        return {"fault": "", "control": None}

    def files(self) -> dict[str, str]:
        """Return all views, by the number of their record and theirs in it, such as `12/0`."""
        return _by_place(self._records[1])

    def picture(self, seq: int, number: int) -> bytes | None:
        """Return a picture of a record, `None` if it has none."""
        return _picture(self.folder, self._records[1], seq, number)

    def card(self) -> dict[str, Any]:
        """Return the card of the episode in a list of runs."""
        return self._card

    @cached_property
    def _records(self) -> tuple[list[dict[str, Any]], list[tuple[str, ...]]]:
        return self._episode.tell()

    @cached_property
    def _card(self) -> dict[str, Any]:
        return card_of_episode(way_of(self.read_records()), self._episode)


def card_of_episode(path: Sequence[Point], episode: EpisodeTold) -> dict[str, Any]:
    """Return the card of an episode, with the way that was walked."""
    record, shown = episode.record, episode.shown
    card = {
        "title": record.case,
        "about": " \N{MIDDLE DOT} ".join(filter(None, (record.city, record.model))),
        "note": record.reason or shown.outcome,
        "state": "failed" if record.status == "failed" else "ended",
        "score": shown.score,
        "group": episode.folder.name,
        "path": path,
    }
    tree: Any = plain_tree(card)
    return dict(tree)


def way_of(told: Sequence[dict[str, Any]]) -> list[Point]:
    """Return the points of the way that records tell, as a card shows it."""
    return _thin_way([one["at"] for one in told if one["kind"] == "step"])


def _thin_way(points: Sequence[Point]) -> list[Point]:
    """Return at most `CARD_POINTS` points of a way, the last among them."""
    # Counted from the end: where the run stands now is always drawn.
    every = max(1, -(-len(points) // CARD_POINTS))
    return list(points[::-1][::every][::-1])


def _by_place(files: Sequence[tuple[str, ...]]) -> dict[str, str]:
    """Return the files of views by the number of their record and their own."""
    return {f"{seq}/{number}": file for seq, views in enumerate(files) for number, file in enumerate(views)}


def _picture(folder: Path, files: Sequence[tuple[str, ...]], seq: int, number: int) -> bytes | None:
    """Return a view's file; None if it is missing, lies outside the folder or is no picture."""
    if not 0 <= seq < len(files) or not 0 <= number < len(files[seq]):
        return None
    name = files[seq][number]
    # A journal may come from anybody: a name in it must not lead out of its folder.
    if not is_inside(folder, name):
        return None
    try:
        data = read_bounded(folder / name, MOST_VIEW)
    except OSError:
        return None
    return data if data and media_type(data) else None


def media_type(data: bytes) -> str:
    """Return the media type of a picture by its first bytes; empty for anything but JPEG and PNG."""
    return next((name for first, name in _MEDIA.items() if data.startswith(first)), "")


LOOK_S = 2.0  # folders are looked through again at most so often; chosen


class Shelf:
    """The feeds of runs and of episodes of benchmarks, by number; numbers stay, new runs get new ones.

    Args:
        folders: runs, runs of benchmarks, or folders that contain some at any depth; runs of agents that were
            consulted belong to their callers and are not shown apart.
        grounds: of cities, by their names.

    Raises:
        BadInput: one is no folder, or contains no run.
        UnknownName: a benchmark is not installed.
    """

    def __init__(self, folders: Sequence[Path], grounds: Grounds) -> None:
        self.feeds: dict[int, Feed] = {}
        self._folders = folders
        self._grounds = grounds
        self._numbers: dict[tuple[Path, str], int] = {}
        self._read: dict[Path, tuple[int, float]] = {}
        self._looked = 0.0
        self._lock = Lock()
        for folder in folders:
            if not folder.is_dir():
                raise BadInput(f"{folder}: no such folder: give a run folder, or a folder that contains runs")
            before = len(self.feeds)
            self._look_through(folder)
            if len(self.feeds) == before and not any(
                path.is_relative_to(folder) for path, _ in self._numbers
            ):
                raise BadInput(
                    f"{folder}: contains no run: give a run folder, or a folder that contains runs"
                )
        self._looked = monotonic()

    def index(self) -> list[dict[str, Any]]:
        """Return a card for each run, in the order of their numbers; runs that began since are found."""
        with self._lock:
            if monotonic() - self._looked > LOOK_S:
                for folder in self._folders:
                    try:
                        self._look_through(folder)
                    except VirlError:
                        continue  # a record that is being written; what was read before is shown
                self._looked = monotonic()
        return cards_of(dict(self.feeds))

    def _look_through(self, folder: Path) -> None:
        """Add the runs and episodes in a folder; runs of consulted agents belong to those who asked."""
        single = (folder / JOURNAL).is_file()
        for records in [] if single else sorted(folder.rglob(RECORDS)):
            if records.is_file() and (records.parent / SETTINGS).is_file():
                self._add_episodes(records)
        for journal in [folder / JOURNAL] if single else sorted(folder.rglob(JOURNAL)):
            if journal.is_file() and (single or CONSULTED not in journal.relative_to(folder).parts):
                self._add(journal.parent, "", None)

    def _add_episodes(self, records: Path) -> None:
        """Add the episodes of a benchmark's run, unless its records are as they were at the last look."""
        state = records.stat()
        if self._read.get(records) == (state.st_size, state.st_mtime):
            return
        for episode in read_episodes(records.parent):
            if (episode.run / JOURNAL).is_file():
                self._add(episode.run, "", episode)
            else:
                self._add(records.parent, episode.record.id, episode)
        self._read[records] = (state.st_size, state.st_mtime)

    def _add(self, folder: Path, identity: str, episode: EpisodeTold | None) -> None:
        """Give a run or an episode its number, which stays, and a feed."""
        # Numbers stand in addresses that are open in browsers: they never move to another run.
        number = self._numbers.setdefault((folder, identity), len(self._numbers))
        if identity and episode:
            self.feeds[number] = EpisodeFeed(episode)
            return
        feed = self.feeds.setdefault(number, RunFeed(folder, self._grounds))
        if episode and isinstance(feed, RunFeed):
            feed.episode = episode

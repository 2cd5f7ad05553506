"""The runs that the page shows: finding them in folders, and their records, states, pictures and cards."""

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
from virl.journal.gallery import card_map
from virl.journal.journal import JOURNAL, JournalTail, read_journal, read_result
from virl.journal.records import AnyRecord, EndRecord, NoteRecord, StepRecord
from virl.journal.report import moment, start_of
from virl.pages.map_svg import figure_data
from virl.pages.maps import MapFigure
from virl.plain_text import plain_line, plain_tree
from virl.serve.watch.episodes import PageEpisode, read_episodes
from virl.serve.watch.telling import Grounds, RecordConverter, RunSummary

MOST_VIEW = 10_000_000
"""Most bytes of a view that is shown; chosen: three times the largest that virl writes."""
_MEDIA = {b"\xff\xd8\xff": "image/jpeg", b"\x89PNG\r\n\x1a\n": "image/png"}


class Feed(Protocol):
    """The data of a run for the page: records, state, views and card."""

    @property
    def folder(self) -> Path:
        """The folder with the files of the run's views."""

    @property
    def began(self) -> str:
        """The time at which the run began, ISO 8601; empty if it is unknown."""

    @property
    def fault(self) -> str:
        """The reason why no more of the run can be read; empty if it can."""

    @property
    def control(self) -> Control | None:
        """The control of a run in this process; `None` if the run cannot be steered."""

    def read_records(self, after: int = 0) -> Sequence[dict[str, Any]]:
        """Return the run's records from index `after` on, newly written ones included."""

    def state(self) -> dict[str, Any]:
        """Return a dict: `fault`, `thinking`, and `control`, the control's state (`None` if it has none)."""

    @property
    def views(self) -> Sequence[tuple[str, ...]]:
        """The files of the views of each record read so far, relative to `folder`."""

    def card(self) -> dict[str, Any]:
        """Return the run's card for the list of runs: titles, state and score."""

    def map(self) -> dict[str, Any] | None:
        """Return the map of the run's card as plain data; `None` if there is nothing to draw."""


Index = Callable[[], list[dict[str, Any]]]
"""A function that returns the list of runs, a card for each, the latest first."""


def cards_of(feeds: Mapping[int, Feed]) -> list[dict[str, Any]]:
    """Return the card of each run, the latest first."""
    latest = sorted(feeds.items(), key=lambda feed: feed[1].began, reverse=True)
    return [{"run": run} | feed.card() for run, feed in latest]


class RunFeed:
    """The feed of a run in a folder, which may still go on, also in another process."""

    def __init__(self, folder: Path, grounds: Grounds, control: Control | None = None) -> None:
        """Keep the run's folder, the source of map grounds, and the control of a run in this process."""
        self.folder = folder
        self.control = control
        self.episode: PageEpisode | None = None
        """Episode of a benchmark that the run belongs to; `None` for other runs."""
        self.fault = ""
        """Reason why no more of the run can be read; empty if it can."""
        self._grounds = grounds
        self._tail = JournalTail(folder)
        self._converter = RecordConverter(grounds)
        self._new_records: list[AnyRecord] = []
        """Journal's records that were read and not yet converted for a page."""
        self._page_records: list[dict[str, Any]] = []
        self.views: list[tuple[str, ...]] = []
        """Files of the views of each record read so far."""
        self._summary = RunSummary(folder.name)
        self._lock = Lock()

    @property
    def began(self) -> str:
        """The time at which the run began, ISO 8601; empty if its journal does not tell."""
        with self._lock:
            self._read()
            return self._summary.began

    def read_records(self, after: int = 0) -> Sequence[dict[str, Any]]:
        """Return the run's records from index `after` on, newly written ones included."""
        with self._lock:
            self._read()
            self._page_records += map(self._converter.convert, self._new_records)
            self._new_records = []
            return self._page_records[after:]

    def _read(self) -> None:
        """Read newly written records; they are converted for the page only when it asks for them."""
        if self.fault or self._tail.is_over or (self.control and not (self.folder / JOURNAL).exists()):
            return
        try:
            for record in self._tail.read_new():
                if isinstance(record, EndRecord):  # beside the journal stands what is true of its claims
                    result = read_result(self.folder, record.result) or record.result
                    record = record.model_copy(update={"result": result})  # noqa: PLW2901
                self._new_records.append(record)
                self._summary.take(record)
                views = record.views if isinstance(record, StepRecord | NoteRecord) else ()
                self.views.append(tuple(view.file for view in views))
        except JournalBroken as fault:
            self.fault = str(fault)

    def state(self) -> dict[str, Any]:
        """Return a dict: `fault`, `thinking`, and `control`, the control's state (`None` if it has none).

        `thinking` is a line on the request to a model that is in progress, empty while none is.
        """
        if self.control is None:
            return {"fault": self.fault, "thinking": "", "control": None}
        standing = self.control.snapshot()
        pose = standing.pose
        at = self._summary.place(LatLng(pose.lat, pose.lng)) if pose else None
        steered: Any = plain_tree(standing.model_dump() | {"at": at})
        return {"fault": self.fault, "thinking": plain_line(self.control.thinking()), "control": steered}

    def map(self) -> dict[str, Any] | None:
        """Return the map that the gallery shows of the run, as plain data; `None` if there is none."""
        try:
            records = read_journal(self.folder)
            return map_data(card_map(records, self._grounds(start_of(records).city)))
        except VirlError:
            return None

    def card(self) -> dict[str, Any]:
        """Return the run's card for the list of runs: titles, state and score."""
        with self._lock:
            self._read()
            summary = self._summary
            state = "failed" if self.fault else "ended" if self._tail.is_over else "open"
            if self.episode:
                return card_of_episode(self.episode) | {"state": state}
            where = f" in {summary.city}" if summary.city else ""
            card = {
                "title": f"{summary.who}{where}",
                "about": moment(summary.began) if summary.began else "",
                "note": self.fault or summary.title,
                "state": state,
                "ending": ("failed", "failed") if self.fault else summary.ending,
                "score": None,
                "group": "",
                "records": len(self.views),  # a map is drawn anew after each
                "view": max((seq for seq, files in enumerate(self.views) if files), default=None),
            }
        tree: Any = plain_tree(card)
        return dict(tree)


class EpisodeFeed:
    """The feed of a benchmark's episode that has no run of an agent."""

    fault = ""
    control = None

    def __init__(self, episode: PageEpisode) -> None:
        """Keep the episode; its folder's time of change counts as the time at which it began."""
        self.folder = episode.folder
        self.began = datetime.fromtimestamp(self.folder.stat().st_mtime, UTC).isoformat()
        self._episode = episode

    def read_records(self, after: int = 0) -> Sequence[dict[str, Any]]:
        """Return the episode's records from index `after` on."""
        return self._records[0][after:]

    def state(self) -> dict[str, Any]:
        """Return the state of an episode, which has neither fault nor control."""
        return {"fault": "", "thinking": "", "control": None}

    @property
    def views(self) -> Sequence[tuple[str, ...]]:
        """The files of the views of each record."""
        return self._records[1]

    def card(self) -> dict[str, Any]:
        """Return the episode's card for the list of runs: titles, state and score."""
        return card_of_episode(self._episode)

    def map(self) -> dict[str, Any] | None:
        """Return the map of the episode as plain data; `None` if there is nothing to draw."""
        return map_data(self._episode.map())

    @cached_property
    def _records(self) -> tuple[list[dict[str, Any]], list[tuple[str, ...]]]:
        """The episode's (records, files of each record's views)."""
        return self._episode.convert()


def map_data(figure: MapFigure | None) -> dict[str, Any] | None:
    """Return a map as plain data for the page, without control characters; `None` for none."""
    tree: Any = figure and plain_tree(figure_data(figure))
    return tree and dict(tree)


def card_of_episode(episode: PageEpisode) -> dict[str, Any]:
    """Return the card of an episode as plain data."""
    record, shown = episode.record, episode.shown
    card = {
        "title": shown.title or record.case,
        "about": " \N{MIDDLE DOT} ".join(filter(None, (episode.city.title, record.model))),
        "note": record.reason or shown.outcome,
        "state": "failed" if record.status == "failed" else "ended",
        "ending": episode.ending,
        "score": shown.score,
        "group": episode.folder.name,
    }
    tree: Any = plain_tree(card)
    return dict(tree)


def files_of(feed: Feed) -> dict[str, str]:
    """Return the files of a run's views read so far, by numbers "record/view" from 0, such as "12/0"."""
    return {f"{seq}/{at}": file for seq, views in enumerate(feed.views) for at, file in enumerate(views)}


def picture_of(feed: Feed, view: str) -> bytes | None:
    """Return a run's view, such as "12/0" (record/view), as JPEG or PNG; `None` if it cannot be read."""
    name = files_of(feed).get(view)
    # A journal may come from anybody: a name in it must not lead out of its folder.
    if name is None or not is_inside(feed.folder, name):
        return None
    try:
        data = read_bounded(feed.folder / name, MOST_VIEW)
    except OSError:
        return None
    return data if data and media_type(data) else None


def media_type(data: bytes) -> str:
    """Return the media type of a JPEG or PNG picture by its first bytes; empty for anything else."""
    return next((name for first, name in _MEDIA.items() if data.startswith(first)), "")


LOOK_S = 2.0  # seconds between two searches of the folders, at least; chosen


class RunCatalogue:
    """The feeds of all runs and episodes in folders, by number; a run keeps its number.

    Runs of agents that were consulted belong to their callers and are not shown apart.
    """

    def __init__(self, folders: Sequence[Path], grounds: Grounds) -> None:
        """Find the runs in the folders, at any depth; `grounds` returns the ground of a city for their maps.

        Raises:
            BadInput: a path is no folder, or contains no run.
            UnknownName: a benchmark is not installed.
        """
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
        """Return the card of each run, the latest first; new runs are looked for before."""
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
        """Add feeds for the runs and episodes in a folder, but not for runs of consulted agents."""
        single = (folder / JOURNAL).is_file()
        for records in [] if single else sorted(folder.rglob(RECORDS)):
            if records.is_file() and (records.parent / SETTINGS).is_file():
                self._add_episodes(records)
        for journal in [folder / JOURNAL] if single else sorted(folder.rglob(JOURNAL)):
            if journal.is_file() and (single or CONSULTED not in journal.relative_to(folder).parts):
                self._add(journal.parent, "", None)

    def _add_episodes(self, records: Path) -> None:
        """Add feeds for the episodes in a records file, unless it is unchanged since it was last read."""
        state = records.stat()
        if self._read.get(records) == (state.st_size, state.st_mtime):
            return
        for episode in read_episodes(records.parent):
            if (episode.run / JOURNAL).is_file():
                self._add(episode.run, "", episode)
            else:
                self._add(records.parent, episode.record.id, episode)
        self._read[records] = (state.st_size, state.st_mtime)

    def _add(self, folder: Path, identity: str, episode: PageEpisode | None) -> None:
        """Give the run in a folder, or the episode with id `identity` there, a feed and a lasting number."""
        # Numbers stand in addresses that are open in browsers: they never move to another run.
        number = self._numbers.setdefault((folder, identity), len(self._numbers))
        if identity and episode:
            self.feeds[number] = EpisodeFeed(episode)
            return
        feed = self.feeds.setdefault(number, RunFeed(folder, self._grounds))
        if episode and isinstance(feed, RunFeed):
            feed.episode = episode

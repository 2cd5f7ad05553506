"""All runs that a page shows: those in the folders that a user names, and those that begin there later."""

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any

from virl.bench.records import RECORDS, SETTINGS
from virl.errors import BadInput, VirlError
from virl.journal.folder import CONSULTED
from virl.journal.journal import JOURNAL
from virl.serve.watch.episodes import EpisodeTold, read_episodes
from virl.serve.watch.feed import EpisodeFeed, Feed, RunFeed, cards_of
from virl.serve.watch.telling import Grounds

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
        single = (folder / JOURNAL).is_file()
        for records in [] if single else sorted(folder.rglob(RECORDS)):
            if records.is_file() and (records.parent / SETTINGS).is_file():
                self._add_episodes(records)
        for journal in [folder / JOURNAL] if single else sorted(folder.rglob(JOURNAL)):
            if journal.is_file() and (single or CONSULTED not in journal.relative_to(folder).parts):
                self._add(journal.parent, "", None)

    def _add_episodes(self, records: Path) -> None:
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
        number = self._numbers.setdefault((folder, identity), len(self._numbers))
        if identity and episode:
            self.feeds[number] = EpisodeFeed(episode)
            return
        feed = self.feeds.setdefault(number, RunFeed(folder, self._grounds))
        if episode and isinstance(feed, RunFeed):
            feed.episode = episode

"""An episode of a benchmark that a person plays at the page."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from rich.console import Console

from virl.agent.control import Control, Standing
from virl.bench.benchmark import BaseOptions
from virl.bench.episode import Episode, Record
from virl.bench.play import HUMAN, episodes_to_play, play
from virl.bench.records import RECORDS
from virl.errors import BadInput, VirlError
from virl.geo.globe import LatLng, LocalFrame, distance
from virl.pages.paper import on_paper
from virl.plain_text import plain_tree
from virl.platform.providers.cities import open_known
from virl.serve.watch.episodes import NOTHING, EpisodeTold, read_episodes
from virl.serve.watch.feed import card_of_episode, way_of
from virl.serve.watch.telling import Grounds, ground_of_city, plain_mark

WAIT_S = 1.0  # how long a change of the standing is awaited at once; chosen


@dataclass(frozen=True, slots=True)
class Game:
    """A game for a person: one episode of a benchmark, and the folder of its records."""

    name: str
    """Name of the benchmark."""
    options: BaseOptions
    out: Path
    """Folder of the run, with the records of all episodes played so far."""
    case: str
    """Name of the episode's question or task."""
    city: str
    notice: str
    """Notice that the city's data require; may be empty."""


def game_for(name: str, options: BaseOptions, out: Path, episode: str) -> Game:
    """Return the game of one episode of a benchmark, by default the first that is not played yet.

    Args:
        name: of the benchmark.
        options: of the benchmark, with the model `human`.
        out: folder of the run, which may hold episodes that were played before.
        episode: the case of an episode, or its number from 1; empty for the first that is not played yet.

    Raises:
        BadInput: there is no such episode, or all are played.
        VirlError: the data cannot be read.
    """
    episodes = episodes_to_play(name, options)
    found = read_episodes(out) if (out / RECORDS).is_file() else []
    played = {one.record.case for one in found if one.record.status == "done"}
    chosen = _asked_for(episodes, episode) if episode else _first_left(episodes, played, out)
    if chosen.case in played:
        raise BadInput(f"--episode {episode}: is played already in {out}: choose another, or another --out")
    return Game(name, options, out, chosen.case, chosen.city, chosen.attribution or _notice_of(chosen.city))


def _notice_of(name: str) -> str:
    """Return the notice of a city by its name; empty if the city is no longer known here."""
    city = open_known(name)
    return city.notice if city else ""


def _asked_for(episodes: Sequence[Episode], asked: str) -> Episode:
    """Return the episode with this number, from 1, or case; refuses others."""
    for number, episode in enumerate(episodes, start=1):
        if asked in (episode.case, str(number)):
            return episode
    cases = ", ".join(episode.case for episode in episodes[:3])
    raise BadInput(f"--episode {asked}: give a number from 1 to {len(episodes)}, or a case such as {cases}")


def _first_left(episodes: Sequence[Episode], played: Collection[str], out: Path) -> Episode:
    """Return the first episode that is not played yet."""
    for episode in episodes:
        if episode.case not in played:
            return episode
    raise BadInput(f"{out}: all {len(episodes)} episodes are played: choose another --out")


class PlayFeed:
    """The feed of the episode that a person plays.

    Args:
        game: what is played.
        control: where the person decides.
        grounds: of cities.
    """

    fault = ""
    began = ""

    def __init__(self, game: Game, control: Control, grounds: Grounds) -> None:
        self.folder = game.out
        self.control = control
        self._game = game
        self._grounds = grounds
        self._frame: LocalFrame | None = None
        self._told: list[dict[str, Any]] = []
        self._here: LatLng | None = None
        self._ended: EpisodeTold | None = None
        self._lock = Lock()
        Thread(target=self._follow, daemon=True).start()

    def read_records(self, after: int = 0) -> Sequence[dict[str, Any]]:
        """Return the records of the game from number `after` on."""
        with self._lock:
            return self._told[after:]

    def state(self) -> dict[str, Any]:
        """Return the state of the game: its control's state, and where the player stands."""
        standing = self.control.snapshot()
        pose = standing.pose
        at = on_paper(self._frame, pose.lat, pose.lng) if pose and self._frame else None
        control = standing.model_dump() | {"at": at, "plays": True}
        return {"fault": "", "control": plain_tree(control)}

    def files(self) -> dict[str, str]:
        """Return no files, since the player's views are not kept."""
        return {}

    def picture(self, seq: int, number: int) -> bytes | None:  # noqa: ARG002 - as `Feed.picture`
        """Return `None`, since the player's views are not kept."""
        return None

    def card(self) -> dict[str, Any]:
        """Return the game's card for the list of runs, as plain data."""
        if self._ended:
            return card_of_episode(way_of(self.read_records()), self._ended)
        about = {"title": self._game.case, "about": self._game.city, "note": "", "group": ""}
        return about | {"state": "open", "score": None, "path": []}

    def end(self, episode: EpisodeTold) -> None:
        """Add the end of the episode to the records.

        Args:
            episode: as it was scored.
        """
        records, _ = episode.tell()
        with self._lock:
            self._ended = episode
            self._add(records[-1])

    def _follow(self) -> None:
        """Add a record for each place where the player has to decide, until the game ends."""
        seen = -1
        while (standing := self.control.snapshot()).state != "ended":
            if standing.pose and standing.links:
                with self._lock:
                    self._arrive(standing)
            seen = self.control.wait_change(seen, WAIT_S)

    def _arrive(self, standing: Standing) -> None:
        """Add a record of the place where the player arrived; the first brings the task and the ground."""
        pose = standing.pose
        if pose is None or (pose.lat, pose.lng) == self._here:
            return
        here = LatLng(pose.lat, pose.lng)
        if self._frame is None:
            self._frame = LocalFrame(here)
            self._add(self._start(standing.question))
        told: dict[str, Any] = {
            "kind": "step",
            "step": len(self._told) - 1,
            "at": on_paper(self._frame, *here),
            "heading": pose.heading,
            "metres": distance(self._here, here) if self._here else 0.0,
            "mark": "walk",
            "title": "On the way" if self._here else "The start",
            "decided": "",
            "decidedBy": HUMAN,
            "views": [],
        }
        if self._here is None:
            told["ground"] = ground_of_city(self._grounds, self._game.city, self._frame.origin)
        told["marks"] = [plain_mark(told["step"], told["at"], told["title"])]
        self._here = here
        self._add(told | dict(NOTHING))

    def _start(self, task: str) -> dict[str, Any]:
        """Return the record of the game's start."""
        return {
            "kind": "start",
            "who": self._game.case,
            "city": self._game.city,
            "started": "",
            "mind": "you",
            "decidedBy": HUMAN,
            "intention": task,
            "notice": self._game.notice,
            "budget": None,
        }

    def _add(self, record: dict[str, Any]) -> None:
        """Add a record with its number, as plain data."""
        tree: Any = plain_tree(record | {"seq": len(self._told)})
        self._told.append(dict(tree))


def play_game(game: Game, feed: PlayFeed, console: Console) -> Record:
    """Let a person play the game's episode to its end, and return its record.

    Args:
        game: what is played.
        feed: where it is shown.
        console: where the results are told.

    Returns:
        The record of the episode, scored as those of any other walker.

    Raises:
        VirlError: as `virl.bench.play.play`.
    """
    resume = (game.out / RECORDS).is_file()
    play(game.name, game.options, game.out, console, feed.control, case=game.case, resume=resume)
    ended = [one for one in read_episodes(game.out) if one.record.case == game.case]
    if not ended:
        raise VirlError(f"{game.out}: the episode was not played to its end: play it again")
    feed.end(ended[0])
    return ended[0].record

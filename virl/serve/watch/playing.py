"""Playing one episode of a benchmark by hand at the page."""

from collections.abc import Sequence
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
from virl.serve.watch.episodes import PageEpisode, read_episodes
from virl.serve.watch.feed import card_of_episode, map_data
from virl.serve.watch.telling import Grounds, ground_of_city, plain_step

WAIT_S = 1.0  # seconds of one wait for the player's next decision; chosen


@dataclass(frozen=True, slots=True)
class Game:
    """A game for a person: one episode of a benchmark, and the folder of its records."""

    name: str
    """Name of the benchmark."""
    options: BaseOptions
    out: Path
    """Folder of the benchmark's run, with the records of all episodes played so far."""
    case: str
    """Name of the episode's question or task."""
    city: str
    notice: str
    """Notice that the city's data require, such as a licence; may be empty."""


def game_for(name: str, options: BaseOptions, out: Path, episode: str) -> Game:
    """Return the game of one episode of a benchmark, by default the first that is not played yet.

    Args:
        name: the benchmark's name.
        options: its options, with the model `human`.
        out: the folder of the run, which may hold episodes that were played before.
        episode: the case of an episode, or its number from 1; empty for the first that is not played yet.

    Raises:
        BadInput: there is no such episode, or it or all are played.
        VirlError: the data cannot be read.
    """
    episodes = episodes_to_play(name, options)
    found = read_episodes(out) if (out / RECORDS).is_file() else []
    played = {one.record.case for one in found if one.record.status == "done"}
    if episode:
        chosen = _find_episode(episodes, episode)
        if chosen.case in played:
            raise BadInput(
                f"--episode {episode}: is played already in {out}: choose another, or another --out"
            )
    elif (first := next((one for one in episodes if one.case not in played), None)) is not None:
        chosen = first
    else:
        raise BadInput(f"{out}: all {len(episodes)} episodes are played: choose another --out")
    notice = chosen.attribution
    if not notice and (city := open_known(chosen.city)):
        notice = city.notice
    return Game(name, options, out, chosen.case, chosen.city, notice)


def _find_episode(episodes: Sequence[Episode], name: str) -> Episode:
    """Return the episode with a case or a number from 1; raise `BadInput` if there is none."""
    for number, episode in enumerate(episodes, start=1):
        if name in (episode.case, str(number)):
            return episode
    cases = ", ".join(episode.case for episode in episodes[:3])
    raise BadInput(f"--episode {name}: give a number from 1 to {len(episodes)}, or a case such as {cases}")


class PlayFeed:
    """The feed of an episode that a person plays; a thread adds a record for each new position."""

    fault = began = ""
    views = ()  # the player's views are not kept

    def __init__(self, game: Game, control: Control, grounds: Grounds) -> None:
        """Keep the game and its control, and start the thread that follows the player."""
        self.folder = game.out
        self.control = control
        self._game = game
        self._grounds = grounds
        self._frame: LocalFrame | None = None
        self._records: list[dict[str, Any]] = []
        self._position: LatLng | None = None
        self._ended: PageEpisode | None = None
        self._lock = Lock()
        Thread(target=self._follow, daemon=True).start()

    def read_records(self, after: int = 0) -> Sequence[dict[str, Any]]:
        """Return the records of the game from number `after` on."""
        with self._lock:
            return self._records[after:]

    def state(self) -> dict[str, Any]:
        """Return the state of the game: its control's state, and the player's position as `at`."""
        standing = self.control.snapshot()
        pose = standing.pose
        at = on_paper(self._frame, pose.lat, pose.lng) if pose and self._frame else None
        control = standing.model_dump() | {"at": at, "plays": True}
        return {"fault": "", "thinking": "", "control": plain_tree(control)}

    def card(self) -> dict[str, Any]:
        """Return the game's card for the list of runs: titles, state and score."""
        if self._ended:
            return card_of_episode(self._ended)
        about = {"title": self._game.case, "about": self._game.city, "note": "", "group": ""}
        return about | {"state": "open", "ending": ("not ended", "open"), "score": None}

    def map(self) -> dict[str, Any] | None:
        """Return the map of the game as plain data; `None` before its end."""
        return map_data(self._ended.map()) if self._ended else None

    def end(self, episode: PageEpisode) -> None:
        """Add the end of the scored episode to the records."""
        records, _ = episode.convert()
        with self._lock:
            self._ended = episode
            self._add(records[-1])

    def _follow(self) -> None:
        """Add a record for each position at which the player has to decide, until the game ends."""
        seen = -1
        while (standing := self.control.snapshot()).state != "ended":
            if standing.pose and standing.links:
                with self._lock:
                    self._arrive(standing)
            seen = self.control.wait_change(seen, WAIT_S)

    def _arrive(self, standing: Standing) -> None:
        """Add a record of the player's position, if it is new; the first brings the task and the ground."""
        pose = standing.pose
        if pose is None or (pose.lat, pose.lng) == self._position:
            return
        here = LatLng(pose.lat, pose.lng)
        if self._frame is None:
            self._frame = LocalFrame(here)
            about = {"who": self._game.case, "city": self._game.city, "notice": self._game.notice}
            task = {"intention": standing.question, "mind": "you", "decidedBy": HUMAN}
            self._add({"kind": "start", **about, **task})
        number, at = len(self._records) - 1, on_paper(self._frame, *here)
        metres = distance(self._position, here) if self._position else 0.0
        record = {"kind": "step"} | plain_step(number, at, pose.heading, metres, by=HUMAN)
        if self._position is None:
            record["ground"] = ground_of_city(self._grounds, self._game.city, self._frame.origin)
        self._position = here
        self._add(record)

    def _add(self, record: dict[str, Any]) -> None:
        """Add a record with its number, as plain data."""
        tree: Any = plain_tree(record | {"seq": len(self._records)})
        self._records.append(dict(tree))


def play_game(game: Game, feed: PlayFeed, console: Console) -> Record:
    """Let a person play the game's episode to its end, and return its record, scored as any walker's.

    Args:
        game: the game.
        feed: the feed by which the page shows it.
        console: the console for the results.

    Raises:
        VirlError: the episode cannot be played, as in `virl.bench.play.play`, or was not played to its end.
    """
    resume = (game.out / RECORDS).is_file()
    play(game.name, game.options, game.out, console, feed.control, case=game.case, resume=resume)
    ended = [one for one in read_episodes(game.out) if one.record.case == game.case]
    if not ended:
        raise VirlError(f"{game.out}: the episode was not played to its end: play it again")
    feed.end(ended[0])
    return ended[0].record

"""Episodes of a benchmark's run, told as runs: what their page tells, step by step where it has steps."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from virl.bench.agent_runs import RUN
from virl.bench.benchmark import Shown, ShownView
from virl.bench.episode import Data, Record
from virl.bench.records import FOLDER, slug
from virl.bench.report.runs import gather, reading_data
from virl.files.pictures import PictureFault, open_picture
from virl.files.writing import is_inside
from virl.geo.globe import LatLng, LocalFrame, bearing, distance
from virl.pages.ground import ground_of_lines
from virl.pages.map_svg import mark_data
from virl.pages.maps import Mark
from virl.pages.paper import Point, on_paper
from virl.plain_text import plain_tree
from virl.serve.watch.telling import ToldBox, ToldCost, ToldView, ground_around, plain_mark

_STEP = re.compile(r"step (\d+): ")
"""Beginning of a view's caption, in benchmarks that say at which step it was seen."""
_WALK = {"start", "states", "actions", "pano_path", "line"}
"""Keys in the data of a walk on a graph, see `virl.bench.walks`."""


class EpisodeTold:
    """The account of an episode that has ended.

    Args:
        folder: of the benchmark's run.
        record: of the episode.
        shown: what its page tells.
        about: title and streets of its city, and whom to name.
    """

    def __init__(self, folder: Path, record: Record, shown: Shown, about: "EpisodeCity") -> None:
        self.folder = folder
        self.record = record
        self.shown = shown
        self._about = about
        self._moments = list(moments(record, shown))

    @property
    def run(self) -> Path:
        """The folder of the agent's run in the episode, where it has one."""
        return self.folder / FOLDER / slug(self.record.id) / RUN

    def tell(self) -> tuple[list[dict[str, Any]], list[tuple[str, ...]]]:
        """Return the episode's records as the page reads them, and the files of the views of each."""
        files: list[tuple[str, ...]] = []
        told: list[dict[str, Any]] = []
        for number, (kind, fields, views) in enumerate(self._records()):
            kept = [(view, size) for view in views if (size := self._size(view.file))]
            shown = [asdict(_view(view, size)) for view, size in kept]
            more = {} if kind in {"start", "end"} else {"views": shown, **NOTHING}
            told.append({"seq": number, "kind": kind} | more | fields)
            files.append(tuple(view.file for view, _ in kept))
        tree: Any = plain_tree(told)
        return list(tree), files

    def _records(self) -> Iterator[tuple[str, dict[str, Any], Sequence[ShownView]]]:
        """Yield the kind, the data and the views of each record that a run would have."""
        record, shown = self.record, self.shown
        yield "start", self._start(), ()
        at_steps = _by_step(shown.views, len(self._moments))
        for number, step in enumerate(self._steps()):
            yield "step", step, at_steps.get(number, ())
        if not any(moment.decided or moment.title for moment in self._moments):
            for title, text in shown.decisions:
                yield "note", {"title": title, "decided": text}, ()
        rest = [view for view in shown.views if not any(view in views for views in at_steps.values())]
        if rest:
            yield "note", {"title": "Pictures of the episode", "decided": ""}, rest
        yield "end", self._end(record), ()

    def _start(self) -> dict[str, Any]:
        """Return what is told at the start."""
        record = self.record
        return {
            "who": record.case,
            "city": self._about.title or record.city or "no city",
            "started": "",
            "mind": record.model,
            "decidedBy": record.model,
            "intention": self.shown.text,
            "notice": self._about.attribution,
            "budget": None,
        }

    def _steps(self) -> Iterator[dict[str, Any]]:
        """Yield what is told of each moment; the first one brings the ground and the goals."""
        moments = self._moments
        if not moments:
            return
        frame = LocalFrame(moments[0].position)
        before = moments[0].position
        for number, moment in enumerate(moments):
            told: dict[str, Any] = {
                "step": number,
                "at": on_paper(frame, *moment.position),
                "heading": moment.heading,
                "metres": distance(before, moment.position),
                "mark": "walk",
                "title": moment.title or ("The start" if number == 0 else "On the way"),
                "decided": moment.decided,
                "decidedBy": self.record.model,
            }
            told["marks"] = [plain_mark(number, told["at"], told["title"])]
            if number == 0:
                told["ground"] = ground_around(frame, ground_of_lines(self._about.streets))
                told["marks"] += [
                    mark_data(
                        Mark(
                            *on_paper(frame, *one.position),
                            "goal",
                            one.label or "Target",
                            shape="diamond",
                            label=one.label,
                        )
                    )
                    for one in self.shown.points
                ]
            before = moment.position
            yield told

    def _end(self, record: Record) -> dict[str, Any]:
        """Return what is told at the end."""
        cost = record.cost
        total = ToldCost(
            float(cost.get("usd", 0.0)),
            int(cost.get("requests", 0)),
            int(cost.get("input_tokens", 0) + cost.get("output_tokens", 0)),
            len(self.shown.views),
            0,
            record.seconds,
        )
        return {
            "status": "finished" if (self.shown.score or 0.0) > 0.0 else "gave up",
            "title": self.shown.outcome,
            "decided": record.reason,
            "facts": [*self.shown.facts, *self._score()],
            "total": asdict(total),
        }

    def _score(self) -> list[tuple[str, str]]:
        return [] if self.shown.score is None else [("score", f"{100 * self.shown.score:.0f} of 100")]

    def _size(self, file: str) -> Point | None:
        """Return the width and height of a picture in pixels; `None` where there is none."""
        if file not in self.record.files or not is_inside(self.folder, file):
            return None
        try:
            with open_picture(self.folder / file, formats=("JPEG", "PNG")) as picture:
                return picture.size
        except PictureFault:
            return None


@dataclass(frozen=True, slots=True)
class EpisodeCity:
    """A city as a benchmark's run knows it."""

    title: str = ""
    streets: Sequence[Sequence[tuple[float, float]]] = ()
    """Centre lines, each of (lat, lng)."""
    attribution: str = ""
    """Names that pages have to credit."""


NOTHING: Mapping[str, Any] = {
    "places": [],
    "thoughts": [],
    "found": [],
    "cost": asdict(ToldCost(0.0, 0, 0, 0, 0, 0.0)),
}
"""Empty fields that records of an episode lack, unlike those of a journal."""


def read_episodes(folder: Path) -> list[EpisodeTold]:
    """Read the episodes of a benchmark's run that have ended.

    Args:
        folder: of the run.

    Raises:
        BadInput: it holds no run, or a record is damaged.
        UnknownName: the benchmark is not installed.
    """
    gathered = gather([folder])
    benchmark, found = gathered.benchmark, []
    for run in gathered.runs:
        cities = {
            name: EpisodeCity(plan.title, plan.streets, plan.attribution)
            for name, plan in run.plan.cities.items()
        }
        with reading_data(benchmark, run):
            for record in run.records:
                shown = benchmark.show(record) if record.is_scored else Shown("failed", 0.0)
                found.append(EpisodeTold(folder, record, shown, cities.get(record.city, EpisodeCity())))
    return found


def _by_step(views: Sequence[ShownView], steps: int) -> dict[int, list[ShownView]]:
    """Return the views whose captions name a step, by its number."""
    found: dict[int, list[ShownView]] = {}
    for view in views:
        said = _STEP.match(view.caption)
        # Benchmarks tell the step of a picture in its caption only.
        if said and int(said[1]) < steps:
            found.setdefault(int(said[1]), []).append(view)
    return found


def _view(view: ShownView, size: Point) -> ToldView:
    """Return a view with its boxes in pixels."""
    width, height = size
    boxes = []
    for one in view.boxes:
        x0, y0, x1, y1 = one.box
        boxes.append(ToldBox(one.label, None, (x0 * width, y0 * height, x1 * width, y1 * height)))
    alt = f"View: {view.caption}" if view.caption else "View"
    return ToldView(alt, view.caption, None, 0.0, None, int(width), int(height), "look", tuple(boxes))


@dataclass(frozen=True, slots=True)
class Moment:
    """A step of an episode."""

    position: LatLng
    heading: float
    """Degrees clockwise from north."""
    title: str
    """Title of what was seen or done; empty where nothing is told."""
    decided: str


def moments(record: Record, shown: Shown) -> Iterator[Moment]:
    """Yield the steps of an episode: of a walk on a graph each action, else each position of the way shown.

    Args:
        record: of the episode.
        shown: what its page tells.
    """
    if record.data.keys() >= _WALK:
        yield from _actions(record.data, shown.decisions)
        return
    path, decisions = shown.path, shown.decisions
    last = len(path) - 1
    for number, position in enumerate(path):
        before, after = path[max(number - 1, 0)], path[min(number + 1, last)]
        heading = bearing(before, position) if number == last and last else bearing(position, after)
        title, decided = decisions[number] if len(decisions) == len(path) else ("", "")
        yield Moment(position, heading, title, decided)


def _actions(data: Data, decisions: Sequence[tuple[str, str]]) -> Iterator[Moment]:
    """Yield the states of a walk, each with the action that was decided there."""
    where = dict(zip(data["pano_path"], data["line"], strict=True))
    for number, (node, heading) in enumerate([data["start"], *data["states"]]):
        action, why = decisions[number] if number < len(decisions) else ("the end", "")
        yield Moment(LatLng(*where[node]), float(heading), action, why)

"""Episodes of a benchmark's run as the page shows them: like runs, step by step if they have steps."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from virl.bench.agent_runs import RUN
from virl.bench.benchmark import Shown, ShownView
from virl.bench.episode import Data, Record
from virl.bench.plan import CityPlan
from virl.bench.records import FOLDER, slug
from virl.bench.report.page import city_map, ground_below
from virl.bench.report.runs import gather, reading_data
from virl.bench.report.tiles import STATES, Scene
from virl.files.pictures import PictureFault, open_picture
from virl.files.writing import is_inside
from virl.geo.globe import LatLng, LocalFrame, bearing, distance
from virl.journal.gallery import ALONE_PX
from virl.pages.map_svg import mark_data
from virl.pages.maps import MapFigure
from virl.pages.marks import Mark
from virl.pages.paper import Point, on_paper
from virl.plain_text import plain_tree
from virl.serve.watch.telling import ground_around, plain_step

_STEP = re.compile(r"step (\d+): ")
"""Pattern of the beginning of a caption that says at which step its view was seen, such as "step 3: "."""
_WALK = {"start", "states", "actions", "pano_path", "line"}
"""Keys that an episode's data all have if it is a walk on a graph, see `virl.bench.walks`."""


@dataclass(frozen=True, slots=True)
class PageEpisode:
    """A benchmark's episode that has ended, which is converted to records for the page."""

    folder: Path
    """Folder of the benchmark's run."""
    record: Record
    shown: Shown
    """Text, path, views and outcome of the episode, as the benchmark shows them."""
    city: CityPlan

    @property
    def run(self) -> Path:
        """The folder of the agent's run in the episode; it exists only if there was such a run."""
        return self.folder / FOLDER / slug(self.record.id) / RUN

    @property
    def ending(self) -> tuple[str, str]:
        """(How the episode ended in a word or two, the kind of its sign), as of a run's `ending_of`."""
        state = Scene(self.record, self.shown, "", self.folder).state
        return STATES[state], {"right": "done", "open": "", "failed": "failed"}.get(state, "warn")

    def map(self) -> MapFigure | None:
        """Return the map of the episode's card; `None` if there is nothing to draw."""
        ground = replace(ground_below(self.record.city, self.city), places=())
        return city_map(self.city, [(self.shown, "")], across=ALONE_PX, ground=ground)

    def convert(self) -> tuple[list[dict[str, Any]], list[tuple[str, ...]]]:
        """Return (records for the page, files of each record's views) of the episode."""
        files: list[tuple[str, ...]] = []
        records: list[dict[str, Any]] = []
        for number, (kind, fields, views) in enumerate(self._records()):
            measured = [(view, size) for view in views if (size := self._size(view.file))]
            shown = [_view_data(view, size) for view, size in measured]
            records.append({"seq": number, "kind": kind, "views": shown} | fields)
            files.append(tuple(view.file for view, _ in measured))
        tree: Any = plain_tree(records)
        return list(tree), files

    def _records(self) -> Iterator[tuple[str, dict[str, Any], Sequence[ShownView]]]:
        """Yield (kind, data, views) of each record that a run of the episode would have."""
        record, shown = self.record, self.shown
        yield "start", self._start(), ()
        steps = list(episode_steps(record, shown))
        at_steps: dict[int, list[ShownView]] = {}
        for view in shown.views:
            # Benchmarks tell the step of a picture in its caption only.
            found = _STEP.match(view.caption)
            if found and int(found[1]) < len(steps):
                at_steps.setdefault(int(found[1]), []).append(view)
        for number, data in enumerate(self._steps(steps)):
            yield "step", data, at_steps.get(number, ())
        if not any(step.decided or step.title for step in steps):
            for title, text in shown.decisions:
                yield "note", {"title": title, "decided": text}, ()
        rest = [view for view in shown.views if not any(view in views for views in at_steps.values())]
        if rest:
            yield "note", {"title": "Pictures of the episode", "decided": ""}, rest
        yield "end", self._end(record), ()

    def _start(self) -> dict[str, Any]:
        """Return the data of the start for the page."""
        record = self.record
        return {
            "who": self.shown.title or record.case,
            "city": self.city.title or record.city or "no city",
            "mind": record.model,
            "decidedBy": record.model,
            "intention": self.shown.text,
            "notice": self.city.attribution,
        }

    def _steps(self, steps: Sequence["EpisodeStep"]) -> Iterator[dict[str, Any]]:
        """Yield the data of each step for the page; the first brings the ground and the goals."""
        if not steps:
            return
        before = steps[0].position
        frame = LocalFrame(before)
        for number, step in enumerate(steps):
            at, metres = on_paper(frame, *step.position), distance(before, step.position)
            told, by = {"title": step.title, "decided": step.decided}, self.record.model
            data = plain_step(number, at, step.heading, metres, **told, by=by)
            if number == 0:
                data["ground"] = ground_around(frame, ground_below(self.record.city, self.city))
                for one in self.shown.points:
                    at, title = on_paper(frame, *one.position), one.label or "Target"
                    data["marks"].append(
                        mark_data(Mark(*at, "goal", title, shape="diamond", label=one.label))
                    )
            before = step.position
            yield data

    def _end(self, record: Record) -> dict[str, Any]:
        """Return the data of the end for the page, with costs and score."""
        cost, share = record.cost, self.shown.score
        score = [] if share is None else [("score", f"{100 * share:.0f} of 100")]
        total = {
            "usd": cost.get("usd", 0.0),
            "calls": int(cost.get("requests", 0)),
            "tokens": int(cost.get("input_tokens", 0) + cost.get("output_tokens", 0)),
            "views": len(self.shown.views),
            "requests": 0,
            "seconds": record.seconds,
        }
        return {
            "ending": self.ending,
            "title": self.shown.outcome,
            "decided": record.reason,
            "facts": [*self.shown.facts, *score],
            "total": total,
        }

    def _size(self, file: str) -> Point | None:
        """Return (width, height) of one of the episode's pictures in pixels; `None` if there is no such."""
        if file not in self.record.files or not is_inside(self.folder, file):
            return None
        try:
            with open_picture(self.folder / file, formats=("JPEG", "PNG")) as picture:
                return picture.size
        except PictureFault:
            return None


def read_episodes(folder: Path) -> list[PageEpisode]:
    """Return the episodes of a benchmark's run that have ended, read from the run's folder.

    Raises:
        BadInput: the folder holds no run, or a record is damaged.
        UnknownName: the benchmark is not installed.
    """
    gathered = gather([folder])
    benchmark, found = gathered.benchmark, []
    for run in gathered.runs:
        with reading_data(benchmark, run):
            for record in run.records:
                shown = benchmark.show(record) if record.is_scored else Shown("failed", 0.0)
                city = run.plan.cities.get(record.city, CityPlan(title=""))
                found.append(PageEpisode(folder, record, shown, city))
    return found


def _view_data(view: ShownView, size: Point) -> dict[str, Any]:
    """Return a view for the page; `size` is the (width, height) of its picture in pixels."""
    width, height = size
    boxes = []
    for one in view.boxes:
        x0, y0, x1, y1 = one.box
        box = x0 * width, y0 * height, x1 * width, y1 * height
        boxes.append({"label": one.label, "score": None, "box": box})
    return {
        "alt": f"View: {view.caption}" if view.caption else "View",
        "caption": view.caption,
        "heading": None,
        "fov": None,
        "width": int(width),
        "height": int(height),
        "purpose": "look",
        "boxes": boxes,
    }


class EpisodeStep(NamedTuple):
    """A step of an episode: position, heading, and the decision made there."""

    position: LatLng
    heading: float
    """Heading at the step, degrees clockwise from north."""
    title: str
    """Title of the step, such as the action taken; empty if the benchmark gives none."""
    decided: str
    """Decision at the step or the reason for it; may be empty."""


def episode_steps(record: Record, shown: Shown) -> Iterator[EpisodeStep]:
    """Yield the steps of an episode: a graph walk's actions, else the positions of the path shown."""
    if record.data.keys() >= _WALK:
        yield from _walk_steps(record.data, shown.decisions)
        return
    path, decisions = shown.path, shown.decisions
    last = len(path) - 1
    for number, position in enumerate(path):
        before, after = path[max(number - 1, 0)], path[min(number + 1, last)]
        heading = bearing(before, position) if number == last and last else bearing(position, after)
        title, decided = decisions[number] if len(decisions) == len(path) else ("", "")
        yield EpisodeStep(position, heading, title, decided)


def _walk_steps(data: Data, decisions: Sequence[tuple[str, str]]) -> Iterator[EpisodeStep]:
    """Yield the states of a walk on a graph; `decisions` has the (action, reason) of each but the last."""
    where = dict(zip(data["pano_path"], data["line"], strict=True))
    for number, (node, heading) in enumerate([data["start"], *data["states"]]):
        action, reason = decisions[number] if number < len(decisions) else ("the end", "")
        yield EpisodeStep(LatLng(*where[node]), float(heading), action, reason)

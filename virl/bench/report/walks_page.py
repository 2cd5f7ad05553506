"""The page of walks: every episode on its map, with both paths, instruction and decisions, to step through.

One HTML file that needs nothing beside itself. The streets around the episodes are in it as coordinates; the
page draws the episode that is chosen.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np
from scipy.spatial import cKDTree

from virl.bench.benchmark import PageHead
from virl.bench.episode import Record
from virl.bench.walks import WalkScores
from virl.files.writing import write_whole
from virl.geo.globe import Floats, LatLng, LocalFrame
from virl.pages.ground import MapGround
from virl.pages.map_svg import ground_data
from virl.pages.maps import map_figure
from virl.pages.marks import Mark
from virl.pages.paper import NO_GROUND, Extent, Paper, lay_out
from virl.pages.shell import html_page, open_templates
from virl.platform.city.graph import NavigationGraph

_AROUND_M = 120.0  # streets farther than this from every path are left out; chosen
_PRECISION = 10  # a tenth of a metre is the finest that the page draws
End = Literal["reached", "missed", "failed"]
"""The end of a walk: it reached its target, missed it, or failed."""


@dataclass(frozen=True, slots=True)
class ShownMove:
    """One decision of a walk, as listed beside the map."""

    action: str
    node: int
    """Number of the node at which the walker stands after the decision."""
    asked: str = ""
    reason: str = ""
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownEpisode:
    """One walk as the page shows it: instruction, both paths, outcome, metrics and decisions."""

    id: str
    instruction: str
    gold: tuple[int, ...]
    """Numbers of the nodes of the gold path, the start first."""
    path: tuple[int, ...]
    """Numbers of the nodes walked, the start first."""
    outcome: End
    scan: str = ""
    """Name of the graph on which the walk took place."""
    note: str = ""
    """Reason of the failure; empty if the walk did not fail."""
    figures: Mapping[str, str] = field(default_factory=dict)
    """Metrics of the walk as texts, by heading."""
    moves: tuple[ShownMove, ...] = ()


FILE = "episodes.html"
TITLE = "Step through every episode on its map"

_LEGEND = (
    *(("line gold", "gold path"), ("line walked", "path walked")),
    *(("pin from", "start"), ("ring gold", "target"), ("pin walked", "end"), ("agent", "chosen step")),
)
_HERE = (Mark(0.0, 0.0, "agent", "", shape="spot"),)  # as the script draws it
_MOST_HOUSES = 1_000_000  # characters of houses; chosen: with more, a page grows beyond 2 MB
_HOW = "Choose an episode on the left; the slider and the list go through its decisions."


def write_walks_page(
    path: Path,
    head: PageHead,
    records: Sequence[Record],
    graphs: Mapping[str, NavigationGraph],
    *,
    about: str,
    success: str,
    figures: Callable[[WalkScores], Mapping[str, str]],
    ground: MapGround = NO_GROUND,
) -> None:
    """Write walks as HTML; `about`: the map, `success`: metric of the outcome, `figures`: metrics as texts.

    Args:
        path: of the HTML file.
        head: its head.
        records: of `virl.bench.walks.run_walk`.
        graphs: where they were walked, by `scan`.
        about: what the map shows.
        success: the metric that says whether the target was reached.
        figures: some of the metrics as they are shown.
        ground: of the city of the only graph, if it is known; else the graphs' links are drawn.
    """
    shown = [
        _to_episode(record, graphs[record.data["scan"]], success, figures)
        if record.data
        else ShownEpisode(
            record.case, "", (), (), "failed", next(iter(graphs)), f"not walked: {record.reason}"
        )
        for record in records
    ]
    write_episodes_page(path, replace(head, about=f"{head.about} {about} {_HOW}"), graphs, shown, ground)


def _to_episode(
    record: Record,
    graph: NavigationGraph,
    success: str,
    figures: Callable[[WalkScores], Mapping[str, str]],
) -> ShownEpisode:
    """Return a recorded walk as the page shows it, as reached if its metric `success` is not 0."""
    data = record.data
    moves = zip(data["actions"], data["states"], data["decisions"], strict=True)
    return ShownEpisode(
        record.case,
        data["instruction"],
        tuple(graph.number(node) for node in data["gold"]),
        tuple(graph.number(node) for node in data["pano_path"]),
        "failed" if record.status == "failed" else "reached" if data["scores"][success] else "missed",
        data["scan"],
        note=record.reason,
        figures=figures(data["scores"]),
        moves=tuple(
            ShownMove(
                action,
                graph.number(node),
                told.get("asked", ""),
                told.get("reason", ""),
                tuple(told.get("refused", ())),
            )
            for action, (node, _), told in moves
        ),
    )


def write_episodes_page(
    path: Path,
    head: PageHead,
    graphs: Mapping[str, NavigationGraph],
    episodes: Sequence[ShownEpisode],
    ground: MapGround = NO_GROUND,
) -> None:
    """Write the page of walks to the HTML file `path`, with a map for each `scan` in `graphs`.

    Args:
        path: of the HTML file.
        head: its head.
        graphs: by the `scan` of the episodes; a city's only graph has the name `""`.
        episodes: in the order in which they are listed.
        ground: what lies below the walks; without ways, the graphs' links are drawn.
    """
    nodes = {
        scan: sorted({node for one in episodes if one.scan == scan for node in (*one.path, *one.gold)})
        for scan in graphs
    }
    papers = {scan: _paper(graph, nodes[scan], ground) for scan, graph in graphs.items()}
    data = {
        "maps": {scan: _map_data(graph, nodes[scan], papers[scan]) for scan, graph in graphs.items()},
        "episodes": [_without_defaults(asdict(episode)) for episode in episodes],
    }
    of_first = map_figure("", next(iter(papers.values())), (), (), legend=_LEGEND)
    page = html_page(
        open_templates(Path(__file__).parent / "templates"),
        "episodes.html.j2",
        {"summary": head, "legend": replace(of_first, marks=_HERE)},
        styles=("browse.css",),
        scripts=("maps.js", "episodes.js"),
        data=data,
    )
    write_whole(path, page.encode("utf-8", "replace"), "write the page again")


def _paper(graph: NavigationGraph, nodes: Sequence[int], ground: MapGround) -> Paper:
    """Return a paper that covers nodes of a graph, without houses where there are too many for a page."""
    frame = LocalFrame(LatLng(float(graph.lat.mean()), float(graph.lng.mean())))
    x, y = frame.to_metres(graph.lat[nodes], graph.lng[nodes])
    points = list(zip(x.tolist(), (-y).tolist(), strict=True)) or [(0.0, 0.0)]
    paper = lay_out(frame, points, ground, extent=Extent(margin_m=_AROUND_M, beyond=0.0))
    kept = (one for one in paper.layers if one.kind != "house" or len(one.data) < _MOST_HOUSES)
    return replace(paper, layers=tuple(kept))


def _map_data(graph: NavigationGraph, shown: Sequence[int], paper: Paper) -> dict[str, object]:
    """Return nodes near those `shown`, in tenths of a metre east and south, their links, and the ground."""
    x, y = paper.frame.to_metres(graph.lat, graph.lng)
    points = np.stack([x, y], axis=1)
    near = np.zeros(len(points), bool)
    if shown:
        near = np.isfinite(cKDTree(points[shown]).query(points, distance_upper_bound=_AROUND_M)[0])
    source = np.repeat(np.arange(len(graph)), graph.degree)
    inside = near[source] & near[graph.target]
    ends = np.unique(np.sort(np.stack([source[inside], graph.target[inside]], axis=1), axis=1), axis=0)
    number = np.cumsum(near) - 1
    return {
        "nodes": np.flatnonzero(near).tolist(),
        "x": _round_metres(x[near]),
        "y": _round_metres(-y[near]),
        "links": number[ends].ravel().tolist(),
        "ground": ground_data(paper),
    }


def _round_metres(metres: Floats) -> list[int]:
    """Return metres as whole tenths of a metre, as the page's data holds them."""
    rounded: list[int] = np.rint(metres * _PRECISION).astype(np.int64).tolist()
    return rounded


def _without_defaults(value: object) -> object:
    """Return JSON data without empty texts, lists and objects, so that a page of 800 walks stays small."""
    if isinstance(value, dict):
        return {key: _without_defaults(item) for key, item in value.items() if item not in ("", (), {})}
    if isinstance(value, (list, tuple)):
        return [_without_defaults(item) for item in value]
    return value

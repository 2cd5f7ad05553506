"""The command `virl narrate`: narrate a finished walk of a run or of a benchmark's episode.

It writes `narration.json`, `narration.md`, `trajectory.svg` and `narration.html` beside the walk's records.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from virl.errors import BadInput, UnknownName
from virl.files.writing import JsonLines, read_bounded, write_whole
from virl.geo.globe import Floats, LatLng, LocalFrame
from virl.journal.journal import read_journal
from virl.journal.report import start_of
from virl.mind.base import Mind
from virl.narrate.narration import Narration, narrate
from virl.narrate.walk import Walk, no_streets, read_walk, streets_by_addresses, walk_on_graph
from virl.pages.ground import ground_of_lines
from virl.pages.map_svg import draw_whole
from virl.pages.maps import MapFigure, MapPath, map_figure
from virl.pages.marks import Mark
from virl.pages.paper import Extent, Point, lay_out
from virl.pages.shell import html_page, open_templates
from virl.platform.city.graph import NavigationGraph
from virl.platform.providers.cities import open_known
from virl.platform.providers.graph.city import attribution_of, find_data
from virl.platform.providers.graph.matterport import read_matterport
from virl.platform.providers.graph.touchdown import load_touchdown
from virl.version import __version__

# The looks of a drawing, all chosen.
_MARGIN = 0.12  # room around the way, as a share of its length or width
_SMALLEST_M = 8.0  # least metres across a drawing
_ACROSS = 400.0  # pixels across a drawing
Lines = Sequence[Sequence[LatLng]]
"""Streets or links to draw, each as the positions along its line."""
_RECORDS, _SETTINGS = "records.jsonl", "settings.json"
AROUND_DEG = 0.003
"""Degrees of latitude and longitude around a walk within which links are drawn; chosen: some 300 m."""


@dataclass(frozen=True, slots=True)
class WrittenNarration:
    """A narration, and the path of its page."""

    narration: Narration
    page: Path
    """Path of `narration.html`; the other files lie beside it."""


def narrate_run(run: Path, mind: Mind) -> WrittenNarration:
    """Narrate an agent's run into its folder, and return the narration with the path of its page.

    Streets are named and drawn if the run's city can be opened. A mind other than `rules` also writes an
    instruction and draws.

    Raises:
        JournalBroken: the journal is missing or damaged.
        BadInput: the run holds no step.
        ModelUnavailable: the model cannot be reached.
        CannotWrite: the files cannot be written.
    """
    city = open_known(start_of(read_journal(run)).city)
    street_of = streets_by_addresses(city.places) if city else no_streets
    lines = city.street_lines if city else ()
    walk = read_walk(run, city.title if city else "")
    narration = narrate(walk, mind, street_of)
    return WrittenNarration(narration, write_narration(run, narration, lines, city.notice if city else ""))


def narrate_episode(run: Path, episode: str, mind: Mind, *, data: Path | None = None) -> WrittenNarration:
    """Narrate a benchmark's episode into `narrations/EPISODE/` of its run; `data`: folder of its data set.

    Args:
        run: the run's folder, with `records.jsonl` and `settings.json`.
        episode: the episode's id.
        mind: the mind that writes and draws, unless it is `rules`.
        data: the data set's folder; `None` for the one that the run had.

    Raises:
        BadInput: the records or the data are missing or damaged, or the episode was not walked.
        UnknownName: no record has the id.
        NoStreetView: the walk does not lie on this data.
        ModelUnavailable: the model cannot be reached.
        CannotWrite: the files cannot be written.
    """
    record = read_record(run, episode)
    data_folder = _data_folder(run, record, data)
    if record.scan:
        graph = read_matterport(data_folder / "connectivity", record.scan)
    else:
        graph = load_touchdown(data_folder / "graph")
    walk = walk_of(graph, record)
    narration = narrate(walk, mind)
    notice = attribution_of(data_folder)
    folder = run / "narrations" / "".join(letter if letter.isalnum() else "-" for letter in episode)
    return WrittenNarration(narration, write_narration(folder, narration, _links_near(graph, walk), notice))


def _links_near(graph: NavigationGraph, walk: Walk) -> list[tuple[LatLng, LatLng]]:
    """Return the links of a graph around a walk, within `AROUND_DEG`, as lines to draw."""
    positions = np.array([stop.position for stop in walk.stops])
    low, high = positions.min(axis=0) - AROUND_DEG, positions.max(axis=0) + AROUND_DEG
    here = (graph.lat >= low[0]) & (graph.lat <= high[0]) & (graph.lng >= low[1]) & (graph.lng <= high[1])
    source = np.repeat(np.arange(len(graph)), graph.degree)
    drawn = np.flatnonzero(here[source] & here[graph.target])
    return [(graph.position(source[link]), graph.position(graph.target[link])) for link in drawn]


class WalkedEpisode(BaseModel):
    """The fields of an episode's record that narrations use; only an id if the episode was not walked."""

    model_config = ConfigDict(extra="ignore")

    id: str
    """Id of the episode in its data set."""
    folder: Path | None = None
    """Folder of the data set; `None` if the record names none."""
    scan: str = ""
    """Name of the building of an R2R episode; empty for others."""
    start: tuple[str, float] | None = None
    """(panorama id, heading in degrees) at the start; `None` if the episode was not walked."""
    pano_path: tuple[str, ...] = ()
    """Panorama ids of the walk in order; empty if the episode was not walked."""

    @model_validator(mode="before")
    @classmethod
    def _take_data(cls, record: object) -> object:
        """Return a benchmark record's data with its case as id; anything else unchanged."""
        if isinstance(record, dict) and "case" in record and isinstance(record.get("data"), dict):
            return record["data"] | {"id": record["case"]}
        return record


class _RunSettings(BaseModel):
    """The part of a benchmark run's `settings.json` that is used: the data folder."""

    model_config = ConfigDict(extra="ignore")

    data: Path | None = None


def read_record(run: Path, episode: str) -> WalkedEpisode:
    """Return the record of an episode of a benchmark's run; the last one if there are several.

    Raises:
        BadInput: there are no records, a line is damaged, or the episode was not walked.
        UnknownName: no record has the id.
    """
    path = run / _RECORDS
    if not path.is_file():
        raise BadInput(f"{path}: no such file: give the run folder of a benchmark")

    def parse(line: bytes) -> WalkedEpisode:
        """Return the episode's record in a line of JSON; raise `ValueError` if it is none."""
        try:
            return WalkedEpisode.model_validate_json(line)
        except ValidationError:
            raise ValueError("is no record of an episode") from None

    found = {record.id: record for record in JsonLines(path, "narrate again").read(parse)}
    if episode not in found:
        raise UnknownName("episode", episode, list(found)[:20])
    record = found[episode]
    if record.start is None or not record.pano_path:
        raise BadInput(f"{path}: episode {episode} was not walked, so there is nothing to narrate")
    return record


def _data_folder(run: Path, record: WalkedEpisode, data: Path | None) -> Path:
    """Return the folder of an episode's data set: `data`, or the one that its record or run names."""
    folder, settings = data or record.folder, run / _SETTINGS
    if folder is None:
        try:
            folder = _RunSettings.model_validate_json(read_bounded(settings) or b"").data
        except (OSError, ValidationError):
            raise BadInput(f"{settings}: is missing or damaged: give the data folder with --data") from None
    return find_data("r2r" if record.scan else "touchdown", folder)


def walk_of(graph: NavigationGraph, record: WalkedEpisode) -> Walk:
    """Return the walk in an episode's record, on its graph.

    Raises:
        NoStreetView: the walk leaves the graph, so that it belongs to other data.
    """
    heading = record.start[1] if record.start else 0.0
    title = f"Episode {record.id}"
    return walk_on_graph(graph, record.pano_path, heading, title, indoors=bool(record.scan))


def write_narration(folder: Path, narration: Narration, streets: Lines = (), notice: str = "") -> Path:
    """Write a narration as four files into a folder, with the city's `notice`; return the path of its page.

    Args:
        folder: the folder.
        narration: the narration.
        streets: centre lines to draw below the exact way; those far off are left out.
        notice: the notice that the city's data require, as in `City.notice`; may be empty.

    Raises:
        CannotWrite: the files cannot be written.
    """
    templates = open_templates(Path(__file__).parent / "templates")
    figures = _figures(narration, streets)
    inputs = {"told": narration, "figures": figures, "notice": notice}
    page = html_page(templates, "narration.html.j2", inputs, scripts=("maps.js",))
    told = _as_data(narration) | ({"notice": notice} if notice else {})
    data = json.dumps(told, indent=2, ensure_ascii=False, allow_nan=False)
    for name, text in (
        ("narration.json", data),
        ("narration.md", templates.get_template("narration.md.j2").render(told=narration, notice=notice)),
        ("trajectory.svg", draw_whole(figures, notice)),
        ("narration.html", page),
    ):
        write_whole(folder / name, text.encode("utf-8", "replace"), "narrate again")
    return folder / "narration.html"


def _as_data(narration: Narration) -> dict[str, object]:
    """Return a narration as plain data for JSON."""
    walk, drawing = narration.walk, narration.drawing
    return {
        "title": walk.title,
        "virl": __version__,
        "mind": narration.mind,
        "start": {"pano_id": walk.stops[0].pano_id, "heading": walk.heading},
        "metres": sum(stop.walked for stop in walk.stops[1:]),
        "stops": [
            {
                "pano_id": stop.pano_id,
                "lat": stop.position.lat,
                "lng": stop.position.lng,
                "crossing": stop.crossing,
            }
            for stop in walk.stops
        ],
        "exact": {"sentences": list(narration.exact), "legs": [asdict(leg) for leg in narration.legs]},
        "history": [asdict(entry) for entry in narration.entries],
        "model": {
            "instruction": narration.instruction,
            "drawing": None if drawing is None else asdict(drawing) | {"points": drawing.points.tolist()},
        },
        "notes": list(narration.notes),
        "cost": {
            "usd": sum(exchange.usd for exchange in narration.asked),
            "input_tokens": sum(exchange.input_tokens for exchange in narration.asked),
            "output_tokens": sum(exchange.output_tokens for exchange in narration.asked),
        },
    }


def _figures(narration: Narration, streets: Lines) -> list[MapFigure]:
    """Return the maps of a narration: the exact walk and, if there is one, the model's drawing over it."""
    points = _on_paper(narration.walk.points())
    drawn = _on_paper(narration.drawing.points) if narration.drawing else points[:0]
    shown = [*points, *drawn]
    margin = float(np.ptp(shown, axis=0).max()) * _MARGIN
    extent = Extent(aspect=1.0, margin_m=margin, smallest_m=_SMALLEST_M, beyond=0.0, scale=1 / 4)
    frame = LocalFrame(narration.walk.stops[0].position)
    paper = lay_out(frame, shown, ground_of_lines(streets), extent=extent, across=_ACROSS)
    turns = [Mark(*points[leg.first], "walk", "turn", shape="spot") for leg in narration.legs[1:]]
    figures = [map_figure("The walk", paper, [MapPath(points)], [*turns, *_ends(points)])]
    if narration.drawing:
        title = f"As {narration.mind} draws it, {narration.drawing.mean_error_m:.1f} m off on average"
        paths = [MapPath(points, "faint main"), MapPath(drawn, "drawn")]
        figures.append(map_figure(title, paper, paths, _ends(drawn)))
    return figures


def _ends(points: Sequence[Point]) -> list[Mark]:
    """Return the marks "start" and "end" for the first and the last point of a path."""
    return [
        Mark(*at, kind, word, shape="pin", label=word.capitalize())
        for at, kind, word in ((points[0], "from", "start"), (points[-1], "to", "end"))
    ]


def _on_paper(points: Floats) -> list[Point]:
    """Return points in metres (east, north) as points (east, south), as paper has them."""
    return [(x, -y) for x, y in points.tolist()]

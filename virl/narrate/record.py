"""The walk of one episode, from the `records.jsonl` of a benchmark's run."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from virl.errors import BadInput, UnknownName
from virl.files import JsonLines
from virl.narrate.walk import Walk, walk_on_graph
from virl.platform.graph import NavigationGraph
from virl.platform.providers.graph.cache import load_touchdown
from virl.platform.providers.graph.home import find_data
from virl.platform.providers.graph.matterport import read_matterport

RECORDS, SETTINGS = "records.jsonl", "settings.json"


class Played(BaseModel):
    """What is read of an episode's record; episodes that were not walked have only an id."""

    model_config = ConfigDict(extra="ignore")

    id: str
    """Of the episode in its data set."""
    folder: Path | None = None
    """Of the data set."""
    scan: str = ""
    """The building of an R2R episode."""
    start: tuple[str, float] | None = None
    """Panorama id, and the heading in degrees."""
    pano_path: tuple[str, ...] = Field(default=())

    @model_validator(mode="before")
    @classmethod
    def _take_data(cls, record: object) -> object:
        if isinstance(record, dict) and "case" in record and isinstance(record.get("data"), dict):
            return record["data"] | {"id": record["case"]}
        return record


class _RunSettings(BaseModel):
    """What is read of `settings.json`."""

    model_config = ConfigDict(extra="ignore")

    data: Path | None = None


def read_record(run: Path, episode: str) -> Played:
    """The record of an episode; where its id stands twice, the later one counts.

    Raises:
        BadInput: there are no records, a line is damaged, or the episode was not walked.
        UnknownName: no record has the id.
    """
    path = run / RECORDS
    if not path.is_file():
        raise BadInput(f"{path}: no such file: give the run folder of a benchmark")
    found = {record.id: record for record in JsonLines(path, "narrate again").read(_played)}
    if episode not in found:
        raise UnknownName("episode", episode, list(found)[:20])
    record = found[episode]
    if record.start is None or not record.pano_path:
        raise BadInput(f"{path}: episode {episode} was not walked, so there is nothing to narrate")
    return record


def _played(line: bytes) -> Played:
    try:
        return Played.model_validate_json(line)
    except ValidationError:
        raise ValueError("is no record of an episode") from None


def open_graph(run: Path, played: Played, data: Path | None = None) -> NavigationGraph:
    """The graph that an episode was walked on.

    Args:
        run: its `settings.json` says which data it was, where the episode does not.
        played: the episode.
        data: the data set's folder, in place of the one that the run had.

    Raises:
        BadInput: the settings or the data are missing or damaged.
    """
    folder = data_folder(run, played, data)
    if played.scan:
        return read_matterport(folder / "connectivity", played.scan)
    return load_touchdown(folder / "graph")


def data_folder(run: Path, played: Played, data: Path | None = None) -> Path:
    """Where the data set of an episode is; arguments as for `open_graph`.

    Raises:
        BadInput: the settings or the data are missing or damaged.
    """
    return find_data("r2r" if played.scan else "touchdown", data or played.folder or _data_of(run))


def walk_of(graph: NavigationGraph, played: Played) -> Walk:
    """The walk of an episode.

    Raises:
        NoStreetView: the walk leaves the graph: it belongs to other data.
    """
    heading = played.start[1] if played.start else 0.0
    title = f"Episode {played.id}"
    return walk_on_graph(graph, played.pano_path, heading, title, indoors=bool(played.scan))


def _data_of(run: Path) -> Path | None:
    path = run / SETTINGS
    try:
        return _RunSettings.model_validate_json(path.read_bytes()).data
    except (OSError, ValidationError):
        raise BadInput(f"{path}: is missing or damaged: give the data folder with --data") from None

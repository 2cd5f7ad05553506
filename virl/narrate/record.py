"""The walk of one episode, from the `records.jsonl` of a benchmark's run."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from virl.errors import BadInput, UnknownName
from virl.narrate.walk import Walk, walk_on_graph
from virl.platform.graph import NavigationGraph
from virl.platform.providers.graph.cache import load_touchdown
from virl.platform.providers.graph.home import find_data
from virl.platform.providers.graph.matterport import read_matterport

RECORDS = "records.jsonl"


class _Record(BaseModel):
    """What is read of a record; skipped episodes have only an id."""

    model_config = ConfigDict(extra="ignore")

    id: str
    start: tuple[str, float] | None = None
    """Panorama id, and the heading in degrees."""
    pano_path: tuple[str, ...] = Field(default=())


def open_graph(data: Path | None, scan: str | None) -> NavigationGraph:
    """The graph that a benchmark's records go by.

    Args:
        data: the data set's folder; `None` for the user's own copy.
        scan: name of the building for R2R; `None` for Touchdown's streets.

    Raises:
        BadInput: the data is missing or damaged.
    """
    if scan is None:
        return load_touchdown(find_data("touchdown", data) / "graph")
    return read_matterport(find_data("r2r", data) / "connectivity", scan)


def read_record(run: Path, episode: str, graph: NavigationGraph, *, indoors: bool) -> Walk:
    """The walk of an episode; where its id stands twice, the later record counts.

    Raises:
        BadInput: there are no records, a line is damaged, or the episode was not walked.
        UnknownName: no record has the id.
        NoStreetView: the walk leaves the graph: it belongs to other data.
    """
    path = run / RECORDS
    if not path.is_file():
        raise BadInput(f"{path}: no such file; name the folder of a benchmark's run")
    found: dict[str, _Record] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            record = _Record.model_validate_json(line)
        except ValidationError:
            raise BadInput(f"{path}, line {number}: is no record of an episode") from None
        found[record.id] = record
    if episode not in found:
        raise UnknownName("episode", episode, list(found)[:20])
    record = found[episode]
    if record.start is None or not record.pano_path:
        raise BadInput(f"{path}: episode {episode} was not walked, so there is nothing to narrate")
    return walk_on_graph(graph, record.pano_path, record.start[1], f"Episode {episode}", indoors=indoors)

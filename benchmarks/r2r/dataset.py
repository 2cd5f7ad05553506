"""The data of a run: buildings with the distances in them, episodes, and what is wrong with any of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from virl.bench.metrics.paths import IndoorScore, score_indoor
from virl.errors import BadInput
from virl.geo.globe import Floats
from virl.platform.city.graph import InstructionEpisode, NavigationGraph
from virl.platform.providers.graph.city import attribution_of, find_data
from virl.platform.providers.graph.data_files import episode_faults
from virl.platform.providers.graph.matterport import read_matterport, read_r2r_file, scan_names


@dataclass(frozen=True, slots=True)
class Building:
    """A scanned building: its graph of viewpoints, and the distances between them."""

    graph: NavigationGraph
    distances: Floats
    """Metres along links between all its viewpoints, shape (nodes, nodes)."""

    def score(self, walked: Sequence[str], gold: Sequence[str]) -> IndoorScore:
        """Return the metrics of a walk against a gold path, both given by viewpoint ids.

        Raises:
            NoStreetView: a viewpoint is not in the building.
        """
        nodes = [[self.graph.number(viewpoint) for viewpoint in path] for path in (walked, gold)]
        return score_indoor(self.distances, *nodes)


@dataclass(frozen=True, slots=True)
class Data:
    """The episodes of a split that can be walked, with their buildings, and the faults of the others."""

    folder: Path
    buildings: Mapping[str, Building]
    """Buildings by the name of the scan."""
    ids: Sequence[str]
    """Ids of all episodes, in the order of the file."""
    episodes: Mapping[str, InstructionEpisode]
    attribution: str
    """Owner of the data, whom pages have to name; may be empty."""
    faults: Mapping[str, str]
    """Reasons why episodes cannot be tried, by id, or by number for an entry that cannot be read."""


def open_data(data: Path | None, split: str) -> Data:
    """Return the episodes of a split and the buildings in which they take place.

    Args:
        data: the folder of R2R; `None` to look in the user's data folder.
        split: such as `"val_unseen"`.

    Raises:
        BadInput: a folder or file is missing or damaged, or there is no episode that can be walked.
    """
    folder = find_data("r2r", data)
    file = folder / f"R2R_{split}.json"
    if not file.is_file():
        there = ", ".join(sorted(path.stem.removeprefix("R2R_") for path in folder.glob("R2R_*.json")))
        raise BadInput(
            f"{file}: no such split (found: {there or 'none'}): `virl data r2r --from DIR` installs the data"
        )
    read = read_r2r_file(file)
    buildings = open_buildings(folder, {episode.scan for episode in read.episodes})
    faults = {f"entry {number}": fault.text for number, fault in enumerate(read.faults)}
    faults |= {episode.id: reason for episode in read.episodes if (reason := _fault_of(buildings, episode))}
    episodes = {episode.id: episode for episode in read.episodes if episode.id not in faults}
    if not episodes:
        first = next(iter(faults.values()), "it is empty")
        raise BadInput(f"{file}: contains no episode that can be walked: {first}")
    ids = tuple(dict.fromkeys([*(episode.id for episode in read.episodes), *faults]))
    return Data(folder, buildings, ids, episodes, attribution_of(folder), faults)


def open_buildings(folder: Path, scans: Iterable[str]) -> dict[str, Building]:
    """Return the buildings of those scans that the folder has, by the scan's name.

    Raises:
        BadInput: a connectivity file has faults.
    """
    buildings = {}
    for scan in sorted(set(scans).intersection(scan_names(folder / "connectivity"))):
        graph = read_matterport(folder / "connectivity", scan)
        buildings[scan] = Building(graph, graph.distances_from(range(len(graph))))
    return buildings


def gold_paths(folder: Path) -> dict[str, InstructionEpisode]:
    """Return an episode for each path of all splits in a folder, by the path's id.

    Raises:
        BadInput: there is no split, or one cannot be read.
    """
    files = sorted(folder.glob("R2R_*.json"))
    if not files:
        raise BadInput(f"no R2R_*.json in {folder}: `virl data r2r --from DIR` installs the data")
    episodes = [episode for file in files for episode in read_r2r_file(file).episodes]
    return {episode.id.rpartition("_")[0]: episode for episode in episodes}


def _fault_of(buildings: Mapping[str, Building], episode: InstructionEpisode) -> str:
    """Return the faults of an episode as text; empty if it can be walked."""
    if episode.scan not in buildings:
        return f"there is no connectivity file of the scan {episode.scan!r}"
    return "; ".join(episode_faults(buildings[episode.scan].graph, episode))

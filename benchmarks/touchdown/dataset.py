"""The data of a run: the street network, the episodes, and what is wrong with any of them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from virl.datasets.export.touchdown import exported_touchdown
from virl.errors import BadInput
from virl.platform.city.graph import InstructionEpisode, NavigationGraph
from virl.platform.providers.graph.city import MANIFEST, attribution_of, find_data
from virl.platform.providers.graph.data_files import episode_faults
from virl.platform.providers.graph.touchdown import Dataset, load_touchdown, read_episode_file
from virl.resources import cache_home, data_home

Scenario = Literal["seen", "unseen"]

PANORAMAS = 29_641  # of the public graph
MADE, TWIN = "a made city", "a town of OpenStreetMap"
EXPORTED = "not Manhattan (`virl data touchdown` gets the public data)"


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection of episodes: folder, data set, scenario and split."""

    data: Path | None = None
    """Folder with `graph/` and one folder a data set; `None` to look in the user's data folder."""
    dataset: Dataset = "map2seq"
    scenario: Scenario = "unseen"
    split: str = "dev"
    episodes: Path | None = None
    """File of episodes to use instead of the split's; `None` uses the split's."""
    limit: int | None = None
    """Most episodes, the first ones; `None` for all."""

    def file(self, folder: Path) -> Path:
        """Return the path of the file of episodes, within the data's `folder` or as named."""
        return self.episodes or folder / f"{self.dataset}_{self.scenario}" / f"{self.split}.jsonl"


@dataclass(frozen=True, slots=True)
class Data:
    """The street graph and the episodes that can be walked, with the faults of the others."""

    folder: Path
    source: str
    """Name of the data for people, which says if it is an export."""
    made_city: str
    """Name of the city that the data is an export of; empty if it is none."""
    is_published: bool
    """True if published results were measured on the same data."""
    graph: NavigationGraph
    ids: Sequence[str]
    """Ids of all episodes, in the order of the file."""
    episodes: Mapping[str, InstructionEpisode]
    attribution: str
    """Owner of the data, whom pages have to name; may be empty."""
    faults: Mapping[str, str]
    """Reasons why episodes cannot be tried, by id, or by line for one that cannot be read."""


def open_data(chosen: Selection) -> Data:
    """Return the street graph and the chosen episodes; by default from the user's data, else of Virlton.

    Without a folder, and where the user has no Touchdown data, the export of Virlton is read instead.

    Raises:
        BadInput: a folder or file is missing or damaged, or no episode is in it.
    """
    folder = _data_folder(chosen.data)
    made_city = _made_city_of(folder)
    graph = load_touchdown(folder / "graph")
    file = chosen.file(folder)
    if not file.is_file():
        there = sorted(f"{path.parent.name}/{path.stem}" for path in folder.glob("*_*/*.jsonl"))
        raise BadInput(f"{file}: no such file of episodes (found in {folder}: {', '.join(there) or 'none'})")
    read = read_episode_file(file)
    faults = {f"line {fault.line}": fault.text for fault in read.faults}
    episodes = {}
    for episode in read.episodes[: chosen.limit]:
        if wrong := episode_faults(graph, episode):
            faults[episode.id] = "; ".join(wrong)
        else:
            episodes[episode.id] = episode
    if not (episodes or faults):
        raise BadInput(f"{file}: contains no episodes")
    attribution = attribution_of(folder)
    kind = TWIN if attribution else MADE
    source = f"an export of {made_city}, {kind}, {EXPORTED}" if made_city else str(file)
    is_published = len(graph) == PANORAMAS and chosen.episodes is None
    ids = tuple(dict.fromkeys([*(episode.id for episode in read.episodes[: chosen.limit]), *faults]))
    return Data(folder, source, made_city, is_published, graph, ids, episodes, attribution, faults)


def name_of(data: Data, chosen: Selection) -> str:
    """Return the name of the episodes in results, with the data's name if it is not the public one."""
    split = chosen.episodes.stem if chosen.episodes else f"{chosen.scenario} {chosen.split}"
    name = f"{chosen.dataset} {split}"
    return name if data.is_published else f"{name} of {data.made_city or data.folder.name}"


def landmarks_file(data: Data, chosen: Selection) -> Path | None:
    """Return the file of extracted landmarks beside the episodes; `None` if there is none."""
    episodes = chosen.file(data.folder)
    file = episodes.with_name(f"landmarks_{episodes.stem}.json")
    return file if file.is_file() else None


def _made_city_of(folder: Path) -> str:
    """Return the name of the city that a folder is an export of; empty if it is no export."""
    manifest = folder / MANIFEST
    if not manifest.is_file():
        return ""
    try:
        return str(json.loads(manifest.read_text(encoding="utf-8"))["city"])
    except (ValueError, LookupError, TypeError) as fault:
        raise BadInput(f"{manifest}: is damaged: export the city again with `virl data export`") from fault


def _data_folder(given: Path | None) -> Path:
    """Return the folder of the data: as given, as installed, or an export of Virlton."""
    if given is not None:
        return find_data("touchdown", given)
    if (data_home() / "touchdown").is_dir():
        return find_data("touchdown")
    return exported_touchdown(cache_home())

"""What `virl narrate` does: reads a finished walk, tells it, and writes that down beside it."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from virl.geo import LatLng
from virl.journal.journal import read_journal
from virl.journal.records import StartRecord
from virl.mind.base import Mind
from virl.narrate.narration import Narration, narrate
from virl.narrate.pages import write_narration
from virl.narrate.record import data_folder, open_graph, read_record, walk_of
from virl.narrate.streets import no_streets, streets_by_addresses
from virl.narrate.walk import Walk, read_walk
from virl.platform.graph import NavigationGraph
from virl.platform.providers.cities import name_of_city, open_known
from virl.platform.providers.graph.credit import attribution_of

AROUND_DEG = 0.003  # chosen: some 300 m of streets around a walk can be drawn


@dataclass(frozen=True, slots=True)
class WrittenNarration:
    """A narration, and where it was written."""

    narration: Narration
    page: Path


def narrate_run(run: Path, mind: Mind) -> WrittenNarration:
    """Narrate the run of an agent into its folder.

    Streets are named and drawn where the run's city can be opened.

    Args:
        run: the run's folder.
        mind: who writes and draws; with `rules` only what is exact is told.

    Raises:
        JournalBroken: the journal is missing or damaged.
        BadInput: the run holds no step.
        ModelUnavailable: the model cannot be reached.
        CannotWrite: the disk refuses.
    """
    walk = read_walk(run)
    start = next(record for record in read_journal(run) if isinstance(record, StartRecord))
    city = open_known(start.city)
    street_of = streets_by_addresses(city.places) if city else no_streets
    lines = city.street_map.lines() if city and city.street_map else ()
    if city:
        walk = replace(walk, title=walk.title.removesuffix(name_of_city(start.city)) + city.title)
    narration = narrate(walk, mind, street_of)
    return WrittenNarration(narration, write_narration(run, narration, lines, city.notice if city else ""))


def narrate_episode(run: Path, episode: str, mind: Mind, *, data: Path | None = None) -> WrittenNarration:
    """Narrate an episode of a benchmark's run into `narrations/EPISODE/` in its folder.

    Args:
        run: holds `records.jsonl` and `settings.json`.
        episode: the episode's id.
        mind: as for `narrate_run`.
        data: the data set's folder; `None` for the one that the run had.

    Raises:
        BadInput: the records or the data are missing or damaged, or the episode was not walked.
        UnknownName: no record has the id.
        NoStreetView: the walk does not lie on this data.
        ModelUnavailable: the model cannot be reached.
        CannotWrite: the disk refuses.
    """
    played = read_record(run, episode)
    graph = open_graph(run, played, data)
    walk = walk_of(graph, played)
    narration = narrate(walk, mind)
    notice = attribution_of(data_folder(run, played, data))
    folder = run / "narrations" / "".join(letter if letter.isalnum() else "-" for letter in episode)
    return WrittenNarration(narration, write_narration(folder, narration, _links_near(graph, walk), notice))


def _links_near(graph: NavigationGraph, walk: Walk) -> list[tuple[LatLng, LatLng]]:
    """The links of a graph around a walk, as lines to draw."""
    positions = np.array([stop.position for stop in walk.stops])
    low, high = positions.min(axis=0) - AROUND_DEG, positions.max(axis=0) + AROUND_DEG
    here = (graph.lat >= low[0]) & (graph.lat <= high[0]) & (graph.lng >= low[1]) & (graph.lng <= high[1])
    source = np.repeat(np.arange(len(graph)), graph.degree)
    drawn = np.flatnonzero(here[source] & here[graph.target])
    return [(graph.position(source[link]), graph.position(graph.target[link])) for link in drawn]

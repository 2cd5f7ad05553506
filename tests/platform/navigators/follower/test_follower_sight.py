"""A follower that sees landmarks where it may stop."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from made_avenues import at, avenues, cell_of

from virl.datasets.export.touchdown import export_touchdown
from virl.platform.city.streetview import Pose
from virl.platform.movers.discrete.actions import WalkState
from virl.platform.movers.discrete.task import OPENING, start_state
from virl.platform.navigators.follower.navigator import (
    MOST_LOOKS,
    SEEN,
    Follower,
    Sight,
    StopSight,
    names_at_stop,
)
from virl.platform.navigators.tourist.signs import OcrSpotter, SignReader
from virl.platform.navigators.tourist.spotting import LandmarkSighting
from virl.platform.navigators.velma.prompt import known_landmarks, read_landmarks
from virl.platform.perception.models import Models
from virl.platform.providers.cities import opened_city
from virl.platform.providers.graph.touchdown import read_episodes, read_touchdown
from virl.platform.providers.provider import Access

GRID = avenues()
TEXT = "Turn left at the second light. Stop at the Blue Zoo on the right."
START = at(GRID, (24, 3))


@dataclass
class OnePlace:
    """Sees a name from some panoramas, and remembers where it was asked to look."""

    seen_from: frozenset[str]
    asked: list[str] = field(default_factory=list)
    name: str = "one place"

    def spot(self, pose: Pose, names: Sequence[str], *, thorough: bool) -> list[LandmarkSighting]:
        assert thorough
        self.asked.append(pose.pano_id)
        return [LandmarkSighting(name, 0.0, 1.0) for name in names if pose.pano_id in self.seen_from]


def zoo_at(*cells: str) -> Sight:
    return Sight(GRID, OnePlace(frozenset(cells)), lambda _: ("Blue Zoo", "Red Bank"))


def end(follower: Follower, start: WalkState = START) -> tuple[int, int]:
    *_, last = follower.walk(TEXT, start)
    return cell_of(GRID, last.state.node)


@pytest.mark.parametrize("use_map", [False, True])
def test_it_stops_where_the_landmark_is_seen(use_map: bool) -> None:
    assert end(Follower(GRID, use_map=use_map, oriented=True))[0] > 18
    seen = Follower(GRID, use_map=use_map, oriented=True, sight=zoo_at("17.16", "18.16"))
    x, y = end(seen)
    assert (y, x in (17, 18)) == (16, True)


@pytest.mark.parametrize("use_map", [False, True])
def test_what_is_seen_on_no_street_that_fits_leads_nobody_astray(use_map: bool) -> None:
    blind = end(Follower(GRID, use_map=use_map, oriented=True))
    assert end(Follower(GRID, use_map=use_map, oriented=True, sight=zoo_at("0.0"))) == blind


def test_by_sight_it_looks_only_where_it_has_stood() -> None:
    sight = zoo_at("17.16", "18.16")
    moves = list(Follower(GRID, oriented=True, sight=sight).walk(TEXT, START))
    stood = {GRID.ids[START.node], *(GRID.ids[move.state.node] for move in moves)}
    assert isinstance(sight.spotter, OnePlace)
    assert set(sight.spotter.asked) <= stood
    assert len(sight.spotter.asked) == len(set(sight.spotter.asked))


def test_with_the_map_it_looks_at_the_likeliest_ends_only() -> None:
    sight = zoo_at("17.16")
    end(Follower(GRID, use_map=True, oriented=True, sight=sight))
    assert isinstance(sight.spotter, OnePlace)
    assert 0 < len(sight.spotter.asked) <= MOST_LOOKS


def test_a_gain_grows_with_the_score() -> None:
    sight = StopSight(GRID, OnePlace(frozenset({"8.8"})), ("Zoo",))
    assert sight.gain(GRID.number("8.8")) == SEEN
    assert sight.gain(GRID.number("0.0")) == 1.0
    ends = {GRID.number("8.8"): 0.25, GRID.number("0.0"): 0.5}
    assert sight.weigh(ends) == {GRID.number("8.8"): 0.25 * SEEN, GRID.number("0.0"): 0.5}


def test_a_text_that_names_nothing_at_its_stop_needs_no_eyes() -> None:
    sight = zoo_at("17.16")
    assert sight.search_at_stop("Pass the Blue Zoo. Turn left. Stop halfway down the block.") is None
    assert Follower(GRID, sight=sight).name == "follower, one place"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Pass the Zoo. Stop at the Bank.", ("Bank",)),
        ("Pass the Zoo. Your goal is next to the Bank. Stop there.", ("Bank",)),
        ("Stop at the Bank. If you reach the Zoo, you have gone too far.", ("Bank",)),
        ("Turn left at the Zoo. There is the Bank.", ("Bank",)),
        ("Stop at the Bank by the Zoo.", ("Zoo", "Bank")),
        ("Pass the Zoo. Turn left. Stop.", ()),
        ("", ()),
    ],
)
def test_names_at_the_stop(text: str, names: tuple[str, ...]) -> None:
    assert names_at_stop(text, ("Zoo", "Bank")) == names


@pytest.mark.slow
def test_signs_of_a_town_lead_to_stops_that_the_text_names(tmp_path: Path) -> None:
    folder = export_touchdown("virlmouth", tmp_path / "export", episodes=8, seed=1)
    graph = read_touchdown(folder / "graph")
    names = read_landmarks(folder / "map2seq_unseen" / "landmarks_dev.json")
    episodes = [
        episode
        for episode in read_episodes(folder / "map2seq_unseen" / "dev.jsonl")
        if names_at_stop(episode.instruction, names.get(episode.id, ()))
    ]
    known = known_landmarks({episode.instruction: names[episode.id] for episode in episodes})

    def reached(sight: Sight | None) -> int:
        follower = Follower(graph, use_map=True, oriented=True, opening=OPENING["map2seq"], sight=sight)
        count = 0
        for episode in episodes:
            *_, last = follower.walk(episode.instruction, start_state(graph, episode, "map2seq"))
            target = graph.number(episode.target)
            count += last.state.node in {target, *graph.target[graph.links(target)].tolist()}
        return count

    with opened_city("virlmouth", Access()) as town:
        signs = SignReader(town.streetview, Models().reader("sign-reader"))
        assert reached(Sight(graph, OcrSpotter(signs), known)) > reached(None)

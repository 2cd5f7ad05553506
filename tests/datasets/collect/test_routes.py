"""Routes: directions to the places collected, from others at the right distance, told once only."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from made_dataset import HARMFUL, place_row
from made_high_street import SHOPS, HighStreet, made_city
from made_streets import FRAME

from virl.datasets.collect.dataset import PlaceRow, RouteRow, Rows, TriedRow
from virl.datasets.collect.routes import Guide, RoutesSettings, collect_routes
from virl.errors import BadInput, MindFailed, NoImagery
from virl.mind.rules import RuleMind
from virl.platform.city.streetview import Camera, View
from virl.platform.movers.base import LinksMover
from virl.platform.navigators.tourist.signs import SignReader
from virl.routines.directions.walkway import Lookout

BAKERY = place_row("Moon Bakery", "bakery", *SHOPS["Moon Bakery"], pano_id="y3", reviews=900)
WEST = place_row("West", "bar", -20, 8, pano_id="w2")
SOUTH = place_row("South", "bar", 4, -20, pano_id="s2")
HILL = place_row("Hill Pharmacy", "pharmacy", *SHOPS["Hill Pharmacy"], pano_id="e1", reviews=5)
FAR_EAST = place_row("Far", "bar", 60, -4, pano_id="f2")


class Counting(RuleMind):
    """Rules that count what they are asked, and may refuse to tell of a destination."""

    def __init__(self, refuses: str = "") -> None:
        super().__init__()
        self.told: list[str] = []
        self._refuses = refuses

    def ask(self, prompt, *, images=(), **inputs):
        self.told.append(inputs["destination"])
        if inputs["destination"] == self._refuses:
            raise MindFailed("no reply that could be said")
        return super().ask(prompt, images=images, **inputs)


def collect(
    folder: Path,
    places: Sequence[PlaceRow],
    mind: RuleMind | None = None,
    signs: Mapping[str, tuple[float, float]] = SHOPS,
    **settings: Any,
) -> tuple[tuple[RouteRow, ...], dict[str, str], HighStreet]:
    """The routes, what became of each destination, and the streets, which know where was looked."""
    city, streets = made_city(signs)
    routes, tried = Rows(folder / "r.jsonl", RouteRow), Rows(folder / "t.jsonl", TriedRow)
    guide = Guide(
        city, LinksMover(streets), mind or RuleMind(), Lookout(city.places, SignReader(streets, streets))
    )
    asked = RoutesSettings.model_validate(settings)
    collect_routes(guide, places, routes, tried, asked, progress=lambda *_: None)
    return routes.all, {row.id: row.reason for row in tried.all}, streets


def test_a_route_leads_from_another_place_to_the_destination_with_its_key_positions(tmp_path: Path) -> None:
    (route,), tried, _ = collect(tmp_path, [BAKERY, WEST], count=1)
    assert route.pano_ids == ("w2", "w1", "c", "e1", "e2", "e3", "x", "y1", "y2", "y3")
    assert (route.start_id, route.heading, route.metres) == ("West", 0.0, 90.0)
    assert [(key.kind, key.pano_id, key.turn) for key in route.key_points] == [
        ("start", "w2", "right"),
        ("turn", "x", "left"),
        ("end", "y3", ""),
    ]
    turn = route.key_points[1]
    assert (turn.landmark, turn.landmark_id) == ("Old Bank", "Old Bank")
    assert turn.landmark_position == pytest.approx(tuple(FRAME.position(*SHOPS["Old Bank"])[:2]))  # type: ignore[index]
    assert "Moon Bakery" in route.instruction
    assert tried == {"Moon Bakery": "kept"}


@pytest.mark.parametrize(
    "settings",
    [
        {"longest_m": 89.0},
        {"most_turns": 0},
        {"fewest_turns": 2},
        {"farthest_start_m": 50.0},
        {"nearest_start_m": 60.0},
        {"end_m": 7.0},
    ],
)
def test_a_walk_that_does_not_fit_is_no_route(tmp_path: Path, settings: dict[str, object]) -> None:
    assert collect(tmp_path / "fits", [BAKERY, WEST], count=1)[0]
    routes, tried, _ = collect(tmp_path / "not", [BAKERY, WEST], **settings)
    assert not routes
    assert tried["Moon Bakery"] == "no walk that fits"


def test_the_rules_are_those_of_the_paper_unless_said_otherwise() -> None:
    settings = RoutesSettings()
    assert (settings.end_m, settings.longest_m, settings.max_place_m) == (18.0, 150.0, 20.0)
    assert (settings.nearest_start_m, settings.farthest_start_m) == (40.0, 150.0)
    assert (settings.fewest_turns, settings.most_turns, settings.count) == (1, 2, 10)


def test_destinations_are_near_a_panorama_of_a_type_asked_for_the_most_reviewed_first(tmp_path: Path) -> None:
    off = place_row("Off", "bakery", 40, 40, pano_id="y4", reviews=9999, distance_m=20.5)
    _, tried, _ = collect(tmp_path, [HILL, WEST, off, BAKERY], types=("bakery", "pharmacy"))
    assert list(tried) == ["Moon Bakery", "Hill Pharmacy"]


def test_a_destination_has_an_image_where_the_data_set_has_images(tmp_path: Path) -> None:
    pictured = HILL.model_copy(update={"image": "images/hill.jpg"})
    assert list(collect(tmp_path / "some", [pictured, WEST, BAKERY])[1]) == ["Hill Pharmacy"]
    assert len(collect(tmp_path / "none", [HILL, WEST, BAKERY])[1]) == 3


def test_of_three_starts_the_walk_with_the_most_landmarks_is_taken_and_it_alone_is_told(
    tmp_path: Path,
) -> None:
    # From the west one turns at the bank; from the south also at the pharmacy.
    mind = Counting()
    (route,), _, _ = collect(tmp_path, [BAKERY, WEST, SOUTH], mind, count=1)
    assert route.start_id == "South"
    assert [key.landmark for key in route.key_points if key.kind == "turn"] == ["Hill Pharmacy", "Old Bank"]
    assert mind.told == ["Moon Bakery"] * 2  # with crossings counted, and without
    (first,), _, _ = collect(tmp_path / "one", [BAKERY, WEST, SOUTH], count=1, starts=1)
    assert first.start_id == "West"


def test_collected_again_nothing_is_looked_at_and_nobody_is_asked(tmp_path: Path) -> None:
    places = [BAKERY, WEST, SOUTH, HILL]
    routes, tried, _ = collect(tmp_path, places)
    mind = Counting()
    again, still, streets = collect(tmp_path, places, mind)
    assert (again, still) == (routes, tried)
    assert len(tried) == len(places)
    assert (mind.told, streets.looked) == ([], [])


def test_a_kill_between_a_route_and_its_note_asks_for_nothing_again(tmp_path: Path) -> None:
    routes, _, _ = collect(tmp_path, [BAKERY, WEST], count=1)
    (tmp_path / "t.jsonl").unlink()
    mind = Counting()
    again, tried, streets = collect(tmp_path, [BAKERY, WEST], mind, count=2, types=("bakery",))
    assert again == routes
    assert tried["Moon Bakery"] == "kept"
    assert mind.told == []
    assert not any(pano_id.startswith("y") for pano_id, _ in streets.looked)


def test_a_destination_that_nobody_can_tell_of_is_left_out_with_the_reason(tmp_path: Path) -> None:
    routes, tried, _ = collect(tmp_path, [BAKERY, WEST, FAR_EAST], Counting("Moon Bakery"))
    assert tried["Moon Bakery"] == "no reply that could be said"
    assert "Moon Bakery" not in {route.id for route in routes}
    assert set(tried) == {"Moon Bakery", "West", "Far"}


def test_a_start_without_a_picture_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look = HighStreet.view

    def blind(self: HighStreet, pano_id: str, camera: Camera) -> View:
        if pano_id == "y3":
            raise NoImagery("no picture there")
        return look(self, pano_id, camera)

    monkeypatch.setattr(HighStreet, "view", blind)
    routes, tried, _ = collect(tmp_path, [BAKERY, WEST], types=("bakery",))
    assert not routes
    assert tried["Moon Bakery"] == "no walk that fits"


def test_a_harmful_name_stays_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bakery = place_row("Moon Bakery", "bakery", *SHOPS["Moon Bakery"], pano_id="y3", name=HARMFUL)
    (route,), _, _ = collect(tmp_path, [bakery, WEST], count=1)
    assert route.place_name == HARMFUL
    assert " ".join(HARMFUL.split()) in route.instruction
    assert not (tmp_path / "harmed").exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"pano_id":"x"', '"pano_id":"n1"', "key point 'n1' is a turn that is not on the gold path"),
        ('["w2","w1"', '["w1","w1"', "the gold path comes twice to the same panorama"),
    ],
)
def test_a_route_that_cannot_be_scored_is_named_when_it_is_read(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    collect(tmp_path, [BAKERY, WEST], count=1)
    path = tmp_path / "r.jsonl"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(BadInput, match=rf"r\.jsonl, line 1: the line: {said}"):
        Rows(path, RouteRow)

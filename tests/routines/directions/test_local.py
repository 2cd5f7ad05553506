"""Local: what is told of a walk can be seen from it, and could be said to a stranger."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import made_day_town as town
import pytest
from made_high_street import EDGES, FRAME, LONG_EDGES, LONG_POINTS, SHOPS, HighStreet, MadeModels, made_city
from pydantic import ValidationError

from virl.agent.agent import Agent
from virl.agent.character import Character
from virl.bench.agent_runs import run_in_folder
from virl.errors import NotFound
from virl.geo.globe import LatLng, distance
from virl.journal.records import Result
from virl.mind.prompt import OUR_PROMPTS
from virl.mind.rules import RuleMind
from virl.money.ledger import Ledger
from virl.platform.city.city import City
from virl.platform.city.places import Place
from virl.platform.city.streetview import Pose
from virl.platform.movers.base import LinksMover
from virl.platform.navigators.tourist.signs import SignReader
from virl.routines.directions.destination import find_destination
from virl.routines.directions.planning import Directions, directions_for, plan_walk
from virl.routines.directions.rules import WrittenDirections, unsayable
from virl.routines.directions.settings import DirectionsSettings
from virl.routines.directions.walkway import Lookout, Stand

TYPES = ("bakery", "bank", "book_store", "pharmacy")


def told(
    city: City, streets: HighStreet, start: Pose, name: str, *, count_crossings: bool = True
) -> Directions:
    lookout = Lookout(city.places, SignReader(streets, streets))
    mover, place = LinksMover(streets), city.places.details(name)
    walk = plan_walk(streets, city.maps, mover, start, place, lookout)
    return directions_for(RuleMind(), walk, place, lookout, count_crossings=count_crossings)


def find(city: City, to: str, at: tuple[float, float] = (0, 0), **settings: object) -> Place:
    agent = SimpleNamespace(
        city=replace(city, ledger=Ledger()),  # the nearest in a straight line
        mind=RuleMind(),
        start=SimpleNamespace(position=FRAME.position(*at)),
        character=Character(
            name="Lee",
            city="made",
            start="here",
            background="",
            intention="I want to buy a novel. Is there a bookshop around here?",
        ),
        senses=SimpleNamespace(place_types=TYPES),
        prompts=OUR_PROMPTS,
    )
    asked = DirectionsSettings.model_validate({"to": to, **settings})
    return find_destination(cast("Agent", agent), asked).place


def test_a_walk_is_told_by_its_start_its_turns_and_its_end() -> None:
    city, streets = made_city()
    directions = told(city, streets, Pose("w2", 0.0), "Moon Bakery")
    assert directions.route == ("w2", "w1", "c", "e1", "e2", "e3", "x", "y1", "y2", "y3")
    assert [(one.kind, one.turn, one.crossings) for one in directions.milestones] == [
        ("start", "right", None),
        ("turn", "left", 2),
        ("end", "", 0),
    ]
    _, turn, end = directions.milestones
    assert turn.landmark is not None
    assert (turn.pano_id, turn.landmark.name) == ("x", "Old Bank")
    assert end.where == "left"
    assert unsayable(directions.instruction) is None
    last = directions.instruction.partition("Moon Bakery")
    assert "on your left" in last[2]


def test_a_landmark_is_only_what_can_be_read_from_the_walk() -> None:
    city, streets = made_city({name: at for name, at in SHOPS.items() if name != "Old Bank"})
    turn = told(city, streets, Pose("w2", 0.0), "Moon Bakery").milestones[1]
    assert turn.landmark is None, "the bank is there, and nobody could see it"


def test_a_landmark_that_could_be_mistaken_for_another_place_is_none() -> None:
    city, streets = made_city()
    twin = Place("twin", "Old Bank", ("bank",), FRAME.position(20, 8))
    city.places.shops.append(twin)
    turn = told(city, streets, Pose("w2", 0.0), "Moon Bakery").milestones[1]
    assert turn.landmark is None


def test_a_destination_that_cannot_be_read_is_told_by_what_stands_beside_it() -> None:
    signs = {"Next Door": (32, 34), "Old Bank": SHOPS["Old Bank"]}
    city, streets = made_city(signs)
    city.places.shops.append(Place("n", "Next Door", ("store",), FRAME.position(32, 34)))
    directions = told(city, streets, Pose("w2", 0.0), "Moon Bakery")
    end = directions.milestones[-1]
    assert end.landmark is not None
    assert end.landmark.name == "Next Door"
    assert '"Next Door"' in directions.instruction
    assert '"Moon Bakery"' in directions.instruction


def test_a_name_that_can_be_read_too_early_does_not_stand_in_for_a_destination() -> None:
    signs = {"Too Early": (49, 6), "Next Door": (32, 34)}
    city, streets = made_city(signs, LONG_POINTS, LONG_EDGES)
    city.places.shops = [
        Place("m", "Moon Bakery", ("bakery",), FRAME.position(48, 30)),
        Place("e", "Too Early", ("store",), FRAME.position(49, 22), review_count=900),
        Place("n", "Next Door", ("store",), FRAME.position(32, 34)),
    ]
    streets.signs["Too Early"] = FRAME.position(49, 16)
    assert told(city, streets, Pose("w2", 90.0), "m").milestones[-1].landmark.name == "Next Door"


def test_names_on_the_way_are_looked_up_only_where_one_at_the_end_could_be_mistaken() -> None:
    city, streets = made_city({"Too Early": (49, 16)}, LONG_POINTS, LONG_EDGES)
    city.places.shops = [
        Place("m", "Moon Bakery", ("bakery",), FRAME.position(48, 60)),
        Place("e", "Too Early", ("store",), FRAME.position(49, 16)),
    ]
    asked = _counted(city)
    directions = told(city, streets, Pose("w2", 90.0), "m")
    assert directions.milestones[-1].landmark is None
    assert ("y2", 90.0) not in {(pano_id, heading) for pano_id, heading in streets.looked}
    assert not [at for at in asked if distance(at, FRAME.position(40, 60)) < 45]


def test_a_single_letter_is_no_name_to_look_up() -> None:
    city, streets = made_city({"M": (20, 8)})
    city.places.shops.append(Place("m", "M", ("store",), FRAME.position(20, 8)))
    asked = _counted(city)
    stand = Stand(Pose("e2", 90.0), streets.panorama("e2"), (), None, None)
    lookout = Lookout(city.places, SignReader(streets, streets))
    assert lookout.in_sight(stand, (-90.0, 90.0)) == []
    assert asked == []
    streets.signs = {"Mo": streets.signs["M"]}
    assert Lookout(city.places, SignReader(streets, streets)).in_sight(stand, (-90.0, 90.0)) == []
    assert len(asked) == 1, "two letters may be a name"


@pytest.mark.parametrize("free", [True, False])
def test_no_sign_is_read_where_no_place_is_near_if_that_costs_nothing(*, free: bool) -> None:
    city, streets = made_city()
    city.places.shops.clear()
    stand = Stand(Pose("e2", 90.0), streets.panorama("e2"), (), None, None)
    assert not Lookout(city.places, SignReader(streets, streets), free=free).in_sight(stand, (-90.0, 90.0))
    assert bool(streets.looked) != free


def _counted(city: City) -> list[LatLng]:
    """Where the places around are asked for from now on."""
    asked: list[LatLng] = []
    nearby = city.places.nearby

    def counted(position: LatLng, *given: Any, **named: Any) -> list[Place]:
        asked.append(position)
        return nearby(position, *given, **named)

    city.places.nearby = counted
    return asked


def test_a_destination_where_nothing_can_be_read_is_told_by_the_crossing_it_is_at() -> None:
    city, streets = made_city({})
    city.places.shops = [Place("m", "Moon Bakery", ("bakery",), FRAME.position(24, 8))]
    directions = told(city, streets, Pose("w2", 90.0), "m")
    end = directions.milestones[-1]
    assert (end.pano_id, end.crossing, end.crossings, end.unseen) == ("x", True, 2, True)
    assert "second crossing" in directions.instruction
    assert "hard to see" in directions.instruction


def test_a_turn_that_no_word_tells_is_walked_around() -> None:
    points = {
        "a": (0, -10),
        "c": (0, 0),
        "f": (0.5, 10),
        "w": (4, 9),
        "r": (7, 7),
        "t": (10, 14),
        "u": (6, 22),
    }
    edges = ("a-c", "c-f", "c-w", "w-u", "c-r", "r-t", "t-u")
    city, streets = made_city({"Moon Bakery": (7, 28)}, points, edges)
    city.places.shops = [Place("m", "Moon Bakery", ("bakery",), FRAME.position(6, 26))]
    start = Stand(Pose("c", 0.0), streets.panorama("c"), streets.panorama("c").links, None, "a")
    assert not replace(start, onward=next(one for one in start.links if one.pano_id == "w")).can_be_told
    walk = plan_walk(
        streets,
        city.maps,
        LinksMover(streets),
        Pose("a", 0.0),
        city.places.details("m"),
        Lookout(city.places, SignReader(streets, streets)),
    )
    assert [stand.panorama.id for stand in walk] == ["a", "c", "r", "t", "u"], "not by w, which is shorter"


def test_one_who_stands_there_already_is_told_so() -> None:
    city, streets = made_city()
    directions = told(city, streets, Pose("y3", 0.0), "Moon Bakery")
    assert directions.route == ("y3",)
    assert "already" in directions.instruction


def test_without_counting_each_turn_is_at_the_next_crossing() -> None:
    city, streets = made_city()
    counted = told(city, streets, Pose("w2", 90.0), "Moon Bakery")
    plain = told(city, streets, Pose("w2", 90.0), "Moon Bakery", count_crossings=False)
    assert plain.milestones[1].crossings is None
    assert "second" in counted.instruction or "one crossing" in counted.instruction
    assert "second" not in plain.instruction
    assert "one crossing" not in plain.instruction


def test_a_destination_is_found_by_name_by_type_and_by_question() -> None:
    city, _ = made_city()
    assert find(city, "sun books").name == "Sun Books"
    assert find(city, "a bakery").name == "Moon Bakery"
    assert find(city, "").name == "Sun Books"
    with pytest.raises(NotFound, match="No bank within 10 m"):
        find(city, "bank", within=10)


@pytest.mark.parametrize(
    ("asked", "listed"),
    [
        ("The Corner Bakery & Café", "Corner Bakery"),
        ("Fifth Avenue Books", "5th Ave. Books"),
        ("Gate 3", "Gate 3"),
    ],
)
def test_a_destination_is_listed_under_a_shorter_or_another_form_of_its_name(asked: str, listed: str) -> None:
    city, _ = made_city()
    names = ("Gate 13", "Corner Bakery", "5th Ave. Books", "Gate 3")
    shops = [Place(name, name, ("store",), FRAME.position(60, 40)) for name in names]
    city = replace(city, places=town.DayPlaces(tuple(shops)))
    assert find(city, asked).name == listed


def test_of_a_chain_the_nearest_branch_near_street_view_is_meant() -> None:
    city, _ = made_city()
    for name, at in (("yard", (0, 90)), ("street", (40, 45)), ("farther", (70, 0))):
        city.places.shops.append(Place(name, "Star Bakery", ("bakery",), FRAME.position(*at)))
    assert find(city, "Star Bakery", at=(0, 85)).id == "street"


def test_a_destination_that_has_closed_is_none() -> None:
    city, _ = made_city()
    shops = [Place("s", "Star Bakery", ("bakery",), FRAME.position(60, 40), is_open=False)]
    city = replace(city, places=town.DayPlaces(tuple(shops)))
    with pytest.raises(NotFound):
        find(city, "Star Bakery")


def test_directions_name_the_destination_in_any_form_of_its_name() -> None:
    asked = {"destination": "5th Avenue Books", "names": ["5th Avenue Books"]}
    for said in ("Fifth Ave. Books is on your left.", "Go on to 5th Avenue Books."):
        assert WrittenDirections.model_validate({"directions": said}, context=asked).directions == said
    with pytest.raises(ValidationError, match="do not name"):
        WrittenDirections.model_validate({"directions": "Sixth Avenue Books is on your left."}, context=asked)


def test_the_nearest_is_chosen_or_the_one_the_local_would_send_them_to() -> None:
    city, _ = made_city()
    better = Place("b", "Star Bakery", ("bakery",), FRAME.position(60, 40), rating=5.0, review_count=90)
    city.places.shops.append(better)
    assert find(city, "bakery").name == "Moon Bakery"
    assert find(city, "bakery", choose="background").name == "Star Bakery"
    assert find(city, "the nearest bakery", choose="background").name == "Moon Bakery"


def test_directions_are_attached_and_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    city, streets = made_city()
    shown: list[str] = []

    def note_shown(_: Agent, __: str, place: Place, **___: bool) -> None:
        shown.append(place.name)

    monkeypatch.setattr("virl.routines.directions.routine.keep_picture", note_shown)
    changes = {"start": {"lat": FRAME.position(-20, 0).lat, "lng": FRAME.position(-20, 0).lng}}
    changes |= {"heading": 90.0, "directions": {"to": "Moon Bakery"}}
    result = run_in_folder("local", city, tmp_path, changes=changes, models=MadeModels(streets))
    assert shown == ["Moon Bakery"]
    directions = Directions.model_validate(result.answer)
    assert (tmp_path / "directions.txt").read_text().strip() == directions.instruction
    assert result.steps == 0, "a local does not walk the visitor there"
    assert (result.status, result.outcome.kind) == ("finished", "finished")


def test_where_no_walk_leads_the_local_gives_up(tmp_path: Path) -> None:
    streets = HighStreet(SHOPS, edges=[edge for edge in EDGES if edge != "x-y1"])
    city = replace(made_city()[0], streetview=streets)
    at = FRAME.position(-20, 0)
    changes = {"start": {"lat": at.lat, "lng": at.lng}, "heading": 90.0, "directions": {"to": "Moon Bakery"}}
    result = run_in_folder("local", city, tmp_path, changes=changes, models=MadeModels(streets))
    assert (result.status, result.outcome.kind) == ("gave up", "blocked")
    assert result.reason.startswith("No directions to Moon Bakery: no walk leads to ")
    assert not (tmp_path / "directions.txt").exists()


def test_resumed_the_local_asks_no_directory_for_what_was_chosen(tmp_path: Path) -> None:
    """The id may be one that the directory lists and no longer knows."""
    at = FRAME.position(-20, 0)
    changes = {"start": {"lat": at.lat, "lng": at.lng}, "heading": 90.0, "directions": {"to": "Moon Bakery"}}

    def go() -> Result:
        city, streets = made_city()
        places = cast("Any", city.places)
        places.details = _gone
        return run_in_folder("local", city, tmp_path, changes=changes, models=MadeModels(streets))

    whole = go()
    journal = tmp_path / "journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    assert '"topic":"destination"' in lines[1]
    journal.write_text("".join(lines[:2]))
    assert go().answer == whole.answer


def _gone(place_id: str) -> Place:
    raise NotFound(f"no place has the id {place_id!r}")

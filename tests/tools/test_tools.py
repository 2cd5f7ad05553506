"""The tools of a model, one by one, in Virlton."""

import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_life import made_agent, made_character, use, virlton
from pydantic import ValidationError

import virl.tools
from virl.agent.character import Character
from virl.agent.character_file import agent_names, load_character
from virl.agent.tool import FINISH, TOOLS, Tool, tool, tool_names
from virl.errors import BadInput, NoStreetView, NotFound
from virl.geo.globe import compass_word, distance, egocentric_word, signed_turn
from virl.platform.city.city import City
from virl.platform.city.streetview import Camera
from virl.platform.perception.base import TextLine
from virl.tools.base import LONGEST, Away, ToolResult, from_world, heading_of, metres, short
from virl.tools.body import Body
from virl.tools.looking import Looked
from virl.tools.places import NearbyListing
from virl.tools.use import tools_for

ROOT = Path(__file__).parents[2]
DOCS = (ROOT / "docs/reference/characters.md").read_text()


@pytest.fixture(scope="module")
def city() -> City:
    return virlton()


@pytest.fixture
def body(city: City, tmp_path: Path) -> Iterator[Body]:
    agent = made_agent(city, tmp_path / "run", made_character(clock="wed 12:30"))
    yield Body(agent)
    agent.run._journal.close()


def test_a_character_may_choose_every_tool_but_the_one_that_is_always_there() -> None:
    assert sorted(tool_names()) == sorted(TOOLS.builtin().keys() - {FINISH})
    assert made_character(tools="all").tools == tool_names()
    with pytest.raises(BadInput, match=r"tools, entry 1: must be one of look"):
        made_character(tools=["fly"])


def test_every_function_that_is_declared_a_tool_is_found_and_nothing_else() -> None:
    modules = [import_module(f"virl.tools.{one.name}") for one in iter_modules(virl.tools.__path__)]
    declared = {name for module in modules for name, value in vars(module).items() if isinstance(value, Tool)}
    assert set(TOOLS.builtin()) == declared
    assert not TOOLS.usable()[1]


def test_tools_say_what_they_cost() -> None:
    tools, _ = TOOLS.usable()
    asking = {"look", "look_closer", "photos", "ask_about_view", "consult"}
    assert {name for name, one in tools.items() if one.asks_model} == asking
    assert {name for name, one in tools.items() if not one.asks_services} == {FINISH}


def test_a_function_without_type_hints_is_no_tool() -> None:
    def fly(body, asked):  # type: ignore[no-untyped-def]
        return body, asked

    with pytest.raises(TypeError, match=r"fly is no tool: declare it as def fly\(body: Body, ...\)"):
        tool("Fly")(fly)


def schemas(body: Body) -> dict[str, dict[str, Any]]:
    return {tool.name: tool.tool_call_schema.model_json_schema() for tool in tools_for(body, tool_names())}  # type: ignore[union-attr]


@pytest.mark.slow
def test_a_model_is_told_what_every_tool_and_argument_means(body: Body) -> None:
    for one in tools_for(body, tool_names()):
        assert len(one.description) > 20
        assert "\n" not in one.description
    for name, schema in schemas(body).items():
        for argument, about in schema.get("properties", {}).items():
            assert about.get("description"), f"{name}: {argument}"
    agents = schemas(body)["consult"]["properties"]["agent"]
    assert agents["enum"] == agent_names()
    assert "hiro: he walks until" in agents["description"]


def test_the_docs_name_the_arguments_of_the_tools_that_they_list() -> None:
    table = DOCS.partition("| tool | arguments |")[2].partition("\n\n")[0]
    rows = [line.split(" | ") for line in table.splitlines()[2:]]
    listed = {row[0].strip("| `"): row[1] for row in rows}
    assert FINISH in listed
    for name, arguments in listed.items():
        declared = {f"`{argument}`" for argument in TOOLS.find(name).arguments.model_fields}
        assert declared <= set(re.findall("`[^`]+`", arguments)), name


@given(st.floats(0, 359.9), st.sampled_from(["front", "front right", "rear left", "left"]))
def test_words_for_directions_are_those_that_things_are_described_with(facing: float, word: Any) -> None:
    assert egocentric_word(facing, heading_of(word, facing)) == word


@given(st.floats(0, 359.9), st.sampled_from(["north", "southeast", "west"]))
def test_the_compass_does_not_turn_with_the_agent(facing: float, word: Any) -> None:
    assert compass_word(heading_of(word, facing)) == word


@given(st.lists(st.text(max_size=400), max_size=40))
def test_text_from_the_world_is_bounded_and_cannot_get_out(lines: list[str]) -> None:
    told = from_world(lines)
    assert len(told) < LONGEST + 300
    inside = told.partition("<<<DATA\n")[2].removesuffix("\nDATA>>>")
    assert "<<<" not in inside
    assert ">>>" not in inside
    assert told.endswith("\nDATA>>>")


def test_what_is_left_out_is_counted() -> None:
    assert "... and 3 lines more, left out" in from_world(["x" * 1000] * 5)
    assert short("a  b\nc", 10) == "a b c"
    assert len(short("word " * 50, 20)) <= 20


@given(st.floats(0, 100_000))
def test_a_rounded_distance_is_told_as_the_distance_is(distance_m: float) -> None:
    assert str(Away(distance_m=distance_m, direction="north")) == f"{metres(distance_m)} north"


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("where_am_i", {}),
        ("turn", {"direction": "southwest"}),
        ("move", {"direction": "front"}),
        ("relocate", {"address": "1 School Street"}),
        ("nearby_places", {"radius_m": 900, "limit": 20}),
        ("nearby_places", {"radius_m": 1, "types": ["zoo"]}),
        ("search_places", {"query": "pharmacy"}),
        ("geocode", {"address": "1 School Street"}),
        ("route", {"address": "1 School Street"}),
        ("travel_times", {"addresses": ["1 School Street"]}),
        ("take_note", {"text": "Mei's is open."}),
        ("finish", {"answer": "Done.", "succeeded": True}),
    ],
)
def test_the_text_is_made_from_the_data_and_from_those_of_a_journal(
    body: Body, name: str, given: dict[str, Any]
) -> None:
    told, declared = act(body, name, **given), TOOLS.find(name)
    assert str(told.data) == told.text
    assert str(declared.returns.model_validate(json.loads(json.dumps(told.data_as_json)))) == told.text


def test_the_places_that_a_text_has_no_room_for_are_not_in_the_data_either(body: Body) -> None:
    told = act(body, "nearby_places", radius_m=900, limit=20)
    assert isinstance(told.data, NearbyListing)
    assert len(told.data.items) + told.data.left_out == 20
    assert told.text.count("id vt-") == len(told.data.items) or not told.data.items[0].id.startswith("vt-")
    assert (f"... and {told.data.left_out} lines more" in told.text) == bool(told.data.left_out)


@pytest.mark.slow
def test_going_straight_on_stops_before_a_crossing(body: Body, city: City) -> None:
    told = use(body, "move", direction="front", steps=20)
    here = body.panorama
    assert here.is_crossing
    assert "A crossing." in told
    assert body.standing.moves == len(body.agent.run.steps) <= 20
    assert not any(city.streetview.panorama(step.pose.pano_id).is_crossing for step in body.agent.run.steps)
    walked = sum(step.distance_m for step in body.agent.run.steps) + body.standing.distance_m
    assert f"You went {walked:.0f} m in {body.standing.moves} moves" in told


def test_a_neighbour_can_be_named(body: Body) -> None:
    link = body.links[-1]
    use(body, "move", pano_id=link.pano_id)
    assert body.standing.pano_id == link.pano_id
    assert signed_turn(body.standing.heading, link.heading) == 0
    with pytest.raises(BadInput, match="is no neighbour of this panorama"):
        use(body, "move", pano_id="vt-00000")
    with pytest.raises(BadInput, match="either direction or pano_id"):
        use(body, "move", pano_id=link.pano_id, direction="front")


def test_moves_end_at_the_limit(city: City, tmp_path: Path) -> None:
    agent = made_agent(city, tmp_path / "run", made_character(limits={"steps": 3}))
    body = Body(agent)
    assert "Moves left: 0" in use(body, "move", direction="front", steps=20)
    assert body.standing.moves == 3
    with pytest.raises(BadInput, match="no moves are left"):
        use(body, "move", direction="rear")
    agent.run._journal.close()


def test_turning_moves_nowhere(body: Body) -> None:
    before = body.standing
    assert "You face southwest, 225 degrees" in use(body, "turn", direction="southwest")
    assert (body.standing.pano_id, body.standing.moves) == (before.pano_id, 0)
    use(body, "turn", direction=10)
    assert body.standing.heading == 10
    with pytest.raises(ValidationError, match="neither a word for a direction"):
        use(body, "turn", direction=360)


def test_places_are_listed_with_what_one_chooses_by(body: Body, city: City) -> None:
    told = use(body, "nearby_places", radius_m=400, types=["restaurant"], limit=3)
    found = city.places.nearby(body.panorama.position, 400, ["restaurant"])
    assert f"3 of {len(found)} places within 400 m" in told
    nearest = found[0]
    away = distance(body.panorama.position, nearest.position)
    row = next(line for line in told.splitlines() if nearest.id in line)
    assert f"| {nearest.name} |" in row
    assert f"rated {nearest.rating:.1f} by {nearest.review_count}" in row
    assert f"| {away:.0f} m " in row
    assert use(body, "nearby_places", radius_m=1, types=["zoo"]) == "No place of type zoo within 1 m."


def test_details_say_whether_a_place_is_open_at_the_characters_clock(body: Body, city: City) -> None:
    here = body.panorama.position
    for place in map(city.places.details, [one.id for one in city.places.nearby(here, 300)[:12]]):
        told = use(body, "place_details", place_id=place.id)
        state = (
            "unknown" if place.is_open and not place.hours else "open" if place.open_at(2, 750) else "closed"
        )
        assert f"now (Wednesday at 12:30): {state};" in told
        assert all(short(review.text, 40).rstrip("…") in told for review in place.reviews[:5])
    with pytest.raises(NotFound):
        use(body, "place_details", place_id="nowhere")


def test_a_place_is_found_by_words(body: Body) -> None:
    assert "pharmacy" in use(body, "search_places", query="pharmacy", limit=2)
    assert use(body, "search_places", query="zzqx") == "No place answers that."


def test_ways_are_told_in_legs_that_add_up(body: Body, city: City) -> None:
    there = city.maps.geocode("1 School Street")
    way = city.maps.route([body.panorama.position, there])
    told = use(body, "route", address="1 School Street")
    assert told.startswith(f"{way.distance:.0f} m, {way.duration / 60:.0f} min walking: ")
    legs = [int(leg.split()[0]) for leg in told.partition(": ")[2].rstrip(".").split(", then ")]
    assert sum(legs) == pytest.approx(way.distance, abs=len(legs))
    assert use(body, "route", address=f"{there.lat},{there.lng}") == told
    nearest = city.places.nearby(there, 100)[0]
    assert "min driving" in use(body, "route", place_id=nearest.id, mode="driving")
    with pytest.raises(NotFound):
        use(body, "route", address="7 Nowhere Boulevard")


def test_an_address_is_placed_as_seen_from_here(body: Body, city: City) -> None:
    there = city.maps.geocode("1 School Street")
    assert use(body, "geocode", address="1 School Street").startswith(f"{there}: ")
    assert " m south" in use(body, "geocode", address="1 School Street")


class OneSign:
    """A reader that reads the same two lines of one sign in every picture, near its right edge."""

    def read(self, images: Any) -> list[list[TextLine]]:
        return [
            [TextLine("Blue", 0.9, (560, 300, 620, 320)), TextLine("Heron", 0.8, (560, 322, 620, 342))]
            for _ in images
        ]


@pytest.mark.slow
def test_signs_are_told_with_where_they_are(body: Body, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body.agent.models, "reader", lambda _: OneSign())
    use(body, "turn", direction="north")
    told = use(body, "read_signs", direction="front")
    assert "'Blue / Heron': front right (northeast, 26 degrees)" in told


@pytest.mark.slow
def test_things_are_told_with_where_they_are_and_the_views_are_kept(body: Body, city: City) -> None:
    assert city.truth is not None
    use(body, "move", direction="front", steps=20)
    told = TOOLS.find("detect").act(
        body, TOOLS.find("detect").arguments.model_validate({"labels": ["tree", "street lamp"]})
    )
    assert len(told.views) == 6
    found = [one for view in told.views for one in view.detections]
    assert found, "a crossing in a town has trees or lamps"
    assert told.text.count("score") == len(found)
    assert all((body.agent.run.folder / view.file).stat().st_size > 1000 for view in told.views)


@pytest.mark.slow
def test_a_closer_look_is_in_one_direction(body: Body) -> None:
    with pytest.raises(BadInput, match="choose one direction"):
        use(body, "look", fov=40)
    told = TOOLS.find("look").act(
        Body(body.agent, sees=True),
        TOOLS.find("look").arguments.model_validate({"direction": "left", "fov": 30}),
    )
    assert [(view.purpose, view.fov) for view in told.views] == [("closer", 30)]
    assert told.shown


@pytest.mark.slow
def test_a_look_tells_what_is_seen_far_down_the_ways_in_it(body: Body) -> None:
    told = act(body, "look").data
    assert isinstance(told, Looked)
    roads = [road for view in told.items for road in view.roads]
    assert sorted(road.direction.degrees for road in roads) == sorted(
        round(link.heading) % 360 for link in body.links
    )
    assert all("above the horizon" in str(road) for road in roads)


def act(body: Body, name: str, **given: Any) -> ToolResult[Any]:
    return TOOLS.find(name).act(body, TOOLS.find(name).arguments.model_validate(given))


@pytest.mark.slow
def test_a_closer_look_is_aimed_at_what_is_named(body: Body) -> None:
    use(body, "move", direction="front", steps=20)
    seeing = Body(body.agent, sees=True)
    seeing.go_on(body.standing)
    for direction in ("north", "east", "south", "west"):
        found = act(seeing, "detect", labels=["tree"], direction=direction)
        if boxes := [one for view in found.views for one in view.detections]:
            break
    assert boxes
    told = act(seeing, "look_closer", direction=direction, label="tree")
    [view] = told.views
    assert view.purpose == "closer"
    assert told.shown
    best = max(boxes, key=lambda one: one.score).box
    camera = Camera(found.views[0].heading, 0, found.views[0].fov)
    aimed, _ = camera.direction((best[0] + best[2]) / 2, (best[1] + best[3]) / 2)
    assert abs(signed_turn(aimed, view.heading)) < 0.01
    assert act(seeing, "look_closer", direction=direction, fov=12).views[0].fov == 12
    missing = act(seeing, "look_closer", direction=direction, label="zebra")
    assert missing.text.startswith("No zebra was found there.")
    assert "describes" not in act(body, "look_closer", direction=direction).text


@pytest.mark.slow
def test_photos_are_shown_or_described_and_kept(body: Body, city: City) -> None:
    found = city.places.nearby(body.panorama.position, 400, ["restaurant"])[0]
    seeing = Body(body.agent, sees=True)
    told = act(seeing, "photos", place_id=found.id)
    [view] = told.views
    assert (view.purpose, view.pano_id, told.shown) == ("photo", "", True)
    assert (body.agent.run.folder / view.file).is_file()
    assert "<<<DATA\nphoto 1 of " in act(body, "photos", place_id=found.id).text
    park = city.places.search("park")[0]
    if not city.places.photos(park.id):
        assert act(body, "photos", place_id=park.id).text == "The place is listed without photos."
    with pytest.raises(NotFound):
        act(body, "photos", place_id="nowhere")
    with pytest.raises(ValidationError):
        act(body, "photos", place_id=found.id, limit=6)


def test_relocating_is_one_move_and_is_written_down(body: Body, city: City) -> None:
    facing = body.standing.heading
    there = city.maps.geocode("1 School Street")
    told = use(body, "relocate", address="1 School Street", why="It is far.")
    assert distance(body.panorama.position, there) < 50
    assert body.standing.heading == facing
    limit = body.agent.character.limits.steps
    assert f"Moves left: {limit - 1}" in told
    [step] = body.agent.run.steps
    assert (step.next_pano_id, step.decided) == (body.standing.pano_id, "It is far.")
    with pytest.raises(BadInput, match="you stand there already"):
        use(body, "relocate", address="1 School Street")
    with pytest.raises(NoStreetView):
        use(body, "relocate", address="0,0")
    again = Body(body.agent)
    again.go_on(None)
    assert again.standing == body.standing


def test_no_move_is_left_to_relocate(city: City, tmp_path: Path) -> None:
    agent = made_agent(city, tmp_path / "run", made_character(limits={"steps": 1}))
    body = Body(agent)
    use(body, "relocate", address="1 School Street")
    with pytest.raises(BadInput, match="no moves are left"):
        use(body, "relocate", address="91 Station Street")
    agent.run._journal.close()


def test_travel_times_come_soonest_first(body: Body, city: City) -> None:
    here = body.panorama.position
    far = city.maps.geocode("1 School Street")
    near = city.places.nearby(here, 200)[0]
    told = use(body, "travel_times", addresses=["1 School Street"], place_ids=[near.id]).splitlines()
    [[soon, late]] = city.maps.travel_times([here], [near.position, far])
    assert told == [
        "From here, walking:",
        f"{near.id}: {soon / 60:.0f} min",
        f"1 School Street: {late / 60:.0f} min",
    ]
    with pytest.raises(BadInput, match="give 1 to 20"):
        use(body, "travel_times")
    with pytest.raises(BadInput, match="give 1 to 20"):
        use(body, "travel_times", addresses=["1 School Street"] * 15, place_ids=[near.id] * 6)
    with pytest.raises(NotFound):
        use(body, "travel_times", addresses=["7 Nowhere Boulevard"])


def test_the_notebook_keeps_what_is_written_once(body: Body) -> None:
    assert use(body, "take_note") == "Your notebook is empty."
    body.doing = "1"
    assert use(body, "take_note", text="Mei's is open.") == "1. Mei's is open."
    assert use(body, "take_note", text="Mei's is open.") == "1. Mei's is open.", "the same use, after a kill"
    for number in range(2, 9):
        body.doing = str(number)
        told = use(body, "take_note", text="x" * 900)
    assert len(told) < LONGEST + 100
    assert told.startswith("(5 earlier lines, left out)\n6. x")


def test_a_question_is_put_to_the_describer(body: Body, monkeypatch: pytest.MonkeyPatch) -> None:
    class Parrot:
        def describe(self, views: Any, question: str = "") -> list[str]:
            assert np.shape(views[0].pixels) == (640, 640, 3)
            return [f"You asked: {question}"]

    monkeypatch.setattr(type(body.agent.senses.describer), "describe", Parrot().describe, raising=True)
    assert "You asked: Is there a bench?" in use(
        body, "ask_about_view", question="Is there a bench?", direction="rear"
    )


@pytest.mark.parametrize("name", ["mira", "otto", "june"])
def test_the_characters_that_come_along_start_in_their_city(name: str, city: City) -> None:
    character: Character = load_character(ROOT / f"agents/{name}.yaml")
    assert character.lives_by_tools
    assert isinstance(character.start, str)
    assert city.streetview.nearest(city.maps.geocode(character.start)) is not None

"""Which picture the rules over tools choose, by what was read and found around a place."""

from pathlib import Path

import pytest
from made_life import made_agent, made_character, virlton

from virl.geo.globe import LatLng
from virl.journal.film import PICTURE
from virl.platform.city.streetview import Camera
from virl.routines.by_tools.goals import read_goal
from virl.routines.by_tools.picturing import keep_picture, view_in
from virl.routines.by_tools.recording import TOOL
from virl.routines.by_tools.street_plans import look_for_signs
from virl.routines.by_tools.view_plans import Scene, _describe_shot, legible
from virl.tools.base import bearing_of, tell_data
from virl.tools.looking import Find, Looked, LookedView, SignRead


def sign(text: str, heading: float) -> SignRead:
    return SignRead(text=text, direction=bearing_of(heading, 0.0))


def tree(heading: float, score: float = 0.95, share: float = 0.02) -> Find:
    return Find(label="tree", direction=bearing_of(heading, 0.0), score=score, share=share)


def scene(*signs: Find, things: tuple[Find, ...] = ()) -> Scene:
    return Scene(LatLng(1.0, 2.0), True, signs, things)


def texts(one: Scene) -> list[str]:
    return [shop.text for shop in one.best().shops]


def test_the_picture_has_a_row_of_shops_and_a_tree_well_inside() -> None:
    shops = [sign("Bakery", 355), sign("Café Nopal", 25), sign("Garage", 200)]
    shot = scene(*shops, things=(tree(10), tree(200, 0.76, 0.002))).best()
    assert [one.text for one in shot.shops] == ["Bakery", "Café Nopal"]
    assert shot.row
    assert shot.anchor_count == 1
    assert abs(shot.heading - 10) <= 5
    assert shot.description == "a row of shops with the lettering 'Bakery', 'Café Nopal', and a tree"


def test_a_sign_and_a_large_tree_are_better_than_a_row_without() -> None:
    signs = (sign("Bakery", 0), sign("Café Nopal", 30), sign("Garage", 180))
    assert texts(scene(*signs, things=(tree(185),))) == ["Garage"]


def test_two_signs_close_to_each_other_may_be_of_one_shop() -> None:
    assert not scene(sign("Market Taqueria", 244), sign("Tacos", 256)).best().row
    assert scene(sign("Market Taqueria", 225), sign("Tacos", 256)).best().row


def test_a_sign_cut_in_two_is_one_once_its_view_was_read() -> None:
    cut = scene(sign("Chapel Iron", 20), sign("mongers", 40))
    assert len(cut.best().shops) == 2
    at = cut.heading_to_read(cut.best())
    assert at is not None
    read = cut.read_closer(at, [sign("Chapel Ironmongers", 30)])
    assert texts(read) == ["Chapel Ironmongers"]
    assert read.heading_to_read(read.best()) is None


def test_a_place_without_anything_has_a_picture_too() -> None:
    assert scene().best().description == "nothing in particular"


def test_few_letters_are_no_sign_unless_they_are_chinese() -> None:
    assert [one.text for one in legible([sign("Gl", 0), sign("00 12", 0), sign("茶館", 0)])] == ["茶館"]


def test_signs_are_taken_from_the_data_of_a_look_not_from_its_text() -> None:
    views = (
        LookedView(label="a", direction=bearing_of(0, 0.0), words="1 sign: 'Joe's'", signs=("Joe's",)),
        LookedView(label="b", direction=bearing_of(90, 0.0), words="a model's 'word' in quotation marks"),
    )
    plan = look_for_signs("Any signs?")
    assert next(plan).tool == "look"
    with pytest.raises(StopIteration) as end:
        plan.send(tell_data(Looked(items=views)))
    assert [(one.text, one.direction.degrees) for one in end.value.value] == [("Joe's", 0.0)]


@pytest.mark.parametrize(
    ("background", "things"),
    [
        ("She likes a bench or a tree to hold the picture together.", ("bench", "tree")),
        ("She likes trees. She has no use for benches.", ("tree",)),
        ("She likes lettering.", ()),
    ],
)
def test_what_a_picture_should_have_stands_in_the_background(
    background: str, things: tuple[str, ...]
) -> None:
    goal = read_goal(
        made_character(intention="Tess wants a picture of a street corner.", background=background)
    )
    assert (goal.seeking, goal.corner, goal.things) == ("view", True, things)


def test_the_answer_says_what_the_picture_shows_before_where_it_is_taken() -> None:
    shot = scene(sign("Bakery", 355), sign("Café Nopal", 25), things=(tree(10),)).best()
    answer = _describe_shot(shot, 3)
    assert answer.startswith("A picture of a street corner with Bakery and Café Nopal, and a tree. Stand at")
    assert view_in(answer) == (shot.position, Camera(shot.heading, 0.0, shot.width))


def test_a_run_keeps_the_view_that_its_answer_describes_once(tmp_path: Path) -> None:
    agent = made_agent(virlton(), tmp_path, made_character(intention="Mira wants one picture of a corner."))
    answer = f"Stand at {agent.start.position}; point at 200 degrees; 60 degrees wide."
    assert keep_picture(agent, answer, None, is_view=False) == ""
    file = keep_picture(agent, answer, None, is_view=True)
    [view] = agent.run.notes(PICTURE)[0].views
    assert (view.file, view.pano_id, view.heading, view.fov) == (file, agent.start.id, 200.0, 60.0)
    assert keep_picture(agent, answer, None, is_view=True) == file
    agent.run._journal.close()


def test_a_view_seen_within_three_degrees_is_the_picture(tmp_path: Path) -> None:
    agent = made_agent(virlton(), tmp_path, made_character(intention="Mira wants one picture of a corner."))
    near = agent.city.streetview.view(agent.start.id, Camera(202.0, 0.0, 60.0))
    seen = agent.run.keep(near, "look")
    agent.run.note(TOOL, "1", "Looked.", title="look", views=seen, asked=())
    answer = f"Stand at {agent.start.position}; point at 200 degrees; 60 degrees wide."
    assert keep_picture(agent, answer, None, is_view=True) == seen[0].file
    agent.run._journal.close()

import pytest
from hypothesis import given
from hypothesis import strategies as st

from virl.geo.globe import LatLng, destination
from virl.platform.city.places import Place
from virl.platform.city.streetview import Camera
from virl.platform.perception.matching import look_up, match_place, resemblance

HERE = LatLng(34.0, -140.0)
MIDDLE = (300.0, 300.0, 340.0, 340.0)  # about 3.6 degrees wide at a fov of 60


def place(name, heading, metres, place_id=None):
    return Place(place_id or name, name, ("cafe",), destination(HERE, heading, metres))


def match(heading, places, box=MIDDLE, **options):
    found = match_place(Camera(heading, 0, 60), box, HERE, places, **options)
    return found.name if found else None


def test_the_place_in_the_box_is_found():
    assert match(90, [place("ahead", 90, 10), place("behind", 270, 5), place("aside", 110, 5)]) == "ahead"


@pytest.mark.parametrize(("heading", "toward"), [(0, 358), (0, 2), (359, 1), (2, 359)])
def test_north_is_no_border(heading, toward):
    assert match(heading, [place("ahead", toward, 10)], slack=3) == "ahead"
    assert match(heading, [place("aside", toward + 10, 10)], slack=3) is None


def test_the_nearest_hides_the_others():
    assert match(90, [place("far", 90, 18), place("near", 91, 9), place("middling", 89, 12)]) == "near"


@pytest.mark.parametrize(("heading", "metres"), [(90, 21), (60, 10), (270, 10)])
def test_nothing_in_reach_is_no_match(heading, metres):
    assert match(90, [place("out of reach", heading, metres)]) is None
    assert match(90, []) is None


def test_the_slack_widens_the_box_on_either_side():
    assert match(90, [place("left", 84, 10)], slack=5) == "left"
    assert match(90, [place("left", 84, 10)], slack=3) is None
    assert match(90, [place("right", 96, 10)], slack=5) == "right"
    assert match(90, [place("behind", 270, 10)], slack=180) == "behind"


def test_a_box_off_the_middle_is_projected_through_the_pinhole():
    edge = (470.0, 300.0, 490.0, 340.0)  # 15.1 to 17.1 degrees; a linear model would say 14.1 to 15.9
    assert match(0, [place("edge", 17, 10)], box=edge, slack=0) == "edge"
    assert match(0, [place("edge", 14.5, 10)], box=edge, slack=0) is None


@given(
    st.floats(0, 360, exclude_max=True),
    st.floats(10, 60),
    st.floats(0, 600),
    st.floats(1, 40),
    st.floats(2, 19),
)
def test_a_place_straight_behind_its_box_is_always_found(heading, fov, x, width, metres):
    camera = Camera(heading, 0, fov)
    box = (x, 310.0, x + width, 330.0)
    toward = camera.direction(x + width / 2, 320)[0]
    behind = place("behind me", toward + 180, metres / 2)
    found = match_place(camera, box, HERE, [behind, place("it", toward, metres)], slack=0.01)
    assert found is not None
    assert found.name == "it"


def test_a_name_that_was_read_goes_before_a_nearer_place():
    places = [place("Blue Door Books", 90, 9), place("Golden Noodle House", 91, 12)]
    assert match(90, places) == "Blue Door Books"
    assert match(90, places, text="GOLDEN N00DLE HOUSE / since 1970") == "Golden Noodle House"
    assert match(90, places, text="Open late") == "Blue Door Books"


def test_a_name_is_never_looked_for_out_of_reach():
    places = [place("Blue Door Books", 90, 9), place("Golden Noodle House", 130, 9)]
    assert match(90, places, text="Golden Noodle House") == "Blue Door Books"
    assert match(90, places[1:], text="Golden Noodle House") is None


def test_of_two_places_with_one_name_the_nearer_wins():
    places = [place("Ito", 90, 15, "a"), place("Ito", 90, 10, "b")]
    found = match_place(Camera(90, 0, 60), MIDDLE, HERE, places, text="ITO")
    assert found is not None
    assert found.id == "b"


def test_short_words_resemble_nothing_but_themselves():
    assert resemblance("Bar", "Barbara's Books") == 0
    assert resemblance("BAR", "Bar") == 100
    assert resemblance("", "") == 0


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("GAIJIN", "Gaijin"),
        ("Latitude / 25", "Latitude 25"),
        ("Hanko Sush", "Hanko Sushi"),
        ("Sushi", None),
        ("Ravintola", None),
        ("", None),
    ],
)
def test_a_whole_name_is_looked_up_wherever_its_place_is(text, name):
    places = [place(one, 200, 35) for one in ("Gaijin", "Latitude 25", "Hanko Sushi", "Ravintola Emo")]
    found = look_up(text, places)
    assert (found.name if found else None) == name


def test_of_two_places_of_one_name_neither_is_looked_up():
    assert (
        look_up("Espresso House", [place("Espresso House", 10, 5, "a"), place("Espresso House", 50, 5, "b")])
        is None
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("PLATFORM 3", "Platform 3"),
        ("PLATFORM 13", "Platform 13"),
        ("PLATFORM 4", None),
        ("BAR", "Platform 13"),
    ],
)
def test_a_place_is_not_one_that_differs_in_a_number(text, found):
    assert match(90, [place("Platform 13", 90, 8), place("Platform 3", 90, 12)], text=text) == found


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("FIFTH AVENUE BAKERY", "5th Ave. Bakery"),
        ("J.P. MORGAN", "JP Morgan"),
        ("ST ANNE'S", "Saint Anne\u2019s"),
    ],
)
def test_a_name_on_a_sign_is_written_in_its_own_way(text, name):
    assert resemblance(text, name) == 100
    found = look_up(text, [place(name, 200, 35), place("Platform 3", 90, 5)])
    assert found is not None
    assert found.name == name

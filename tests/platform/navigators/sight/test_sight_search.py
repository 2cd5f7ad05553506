"""Searching by signs: what a task means, which sign shows the goal, which way comes next."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from made_streets import MadeStreetView, plus_sign

from virl.errors import MindFailed
from virl.mind.base import Mind, Pictures, Prompt, ReplyT
from virl.mind.lexicon import load_lexicon
from virl.mind.prompt import render
from virl.mind.rules import RuleMind
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Camera, Image, Link, Panorama, Pose, View
from virl.platform.movers.base import LinksMover
from virl.platform.navigators.sight.clues import Neighbours, leads_to_centre
from virl.platform.navigators.sight.explorer import MOST_WAYS, Abilities, SeenMap, SightExplorer
from virl.platform.navigators.sight.goal import SightGoal, goal_in_picture, goal_in_words
from virl.platform.navigators.sight.looking import (
    AROUND,
    KnownSign,
    Pointer,
    SignLooks,
    pointer_in,
    signs_and_pointers,
)
from virl.platform.navigators.sight.navigator import SPENT, SightNavigator
from virl.platform.navigators.sight.rules import (
    GoalQuestion,
    WayQuestion,
    choose_and_tell,
    choose_way,
    understand,
)
from virl.platform.navigators.tourist.signs import Sign
from virl.platform.perception.base import TextLine
from virl.platform.perception.models import Models
from virl.platform.perception.road_sight import RoadSight, SeenFront

EAST_BOUND = Pose("w3", 90.0)
FOUND = Outcome("found", "the sign 'Lantern Books' shows what is looked for", "Lantern Books")
NOT_FOUND = Outcome("not found", "every way that can be reached was walked")
KINDS = (
    "bakery",
    "bank",
    "bar",
    "dentist",
    "library",
    "museum",
    "book_store",
    "restaurant",
    "veterinary_care",
)


def sign(text: str, *kinds: str) -> KnownSign:
    return KnownSign(Sign(text, 0.0, 0.9, Camera(0.0), (10.0, 10.0, 60.0, 30.0)), kinds)


@pytest.mark.parametrize(
    ("task", "name", "kinds", "beside"),
    [
        ('Find the place called "Red Wok Kitchen".', "Red Wok Kitchen", (), ()),
        ("Find the bakery that stands between a dentist and a bank.", "", ("bakery",), ("dentist", "bank")),
        ("It rains, and I want somewhere dry to wait.", "", ("library", "museum", "book_store"), ()),
        ("My dog has eaten a sock and is ill.", "", ("veterinary_care",), ()),
        ("Somewhere dry to wait, and we have no money.", "", ("library", "museum"), ()),
        ("It rains, and I want somewhere dry to wait. It is Sunday at 14:00.", "", ("museum",), ()),
        ("I want somewhere dry to wait. It is Sunday at 3:00.", "", ("library", "museum", "book_store"), ()),
        ("I want somewhere dry to wait. It is Sunday at 25:99.", "", ("library", "museum", "book_store"), ()),
    ],
)
def test_the_rules_know_what_a_task_looks_for(
    task: str, name: str, kinds: tuple[str, ...], beside: tuple[str, ...]
) -> None:
    sought = understand(GoalQuestion(task=task, kinds=KINDS), load_lexicon())
    assert (sought.name, sought.kinds, set(sought.beside)) == (name, kinds, set(beside))


def test_a_child_comes_along_into_no_bar() -> None:
    asked = [f"I would like a drink{also}." for also in ("", ", and my child is with me")]
    found = []
    for task in asked:
        try:
            found.append(understand(GoalQuestion(task=task, kinds=KINDS), load_lexicon()).kinds)
        except MindFailed:
            found.append(())
    assert "bar" in found[0]
    assert "bar" not in found[1]


def test_a_task_that_names_no_place_is_refused() -> None:
    with pytest.raises(MindFailed, match="put its name in quotation marks"):
        understand(GoalQuestion(task="Find it.", kinds=KINDS), load_lexicon())


@pytest.mark.parametrize(
    ("read", "is_shown"),
    [
        ("Spring Street Hot Pot", True),
        ("SPRlNG STREET HOT POT", True),
        ("Miller Street Hot Pot", False),
        ("Spring Street Cafe", False),
        ("Hot Pot", False),
    ],
)
def test_every_word_of_a_name_has_to_be_read(read: str, is_shown: bool) -> None:
    goal = SightGoal("", "Spring Street Hot Pot")
    assert (goal.shown_by([sign("Bank"), sign(read)]) is not None) is is_shown


def test_a_place_is_named_by_the_longest_sign_on_its_front() -> None:
    def board(text: str, left: float, *kinds: str) -> KnownSign:
        one = sign(text, *kinds)
        return replace(one, sign=replace(one.sign, box=(left, 10.0, left + 50.0, 30.0)))

    hanging, name = board("Gallery", 100.0, "art_gallery"), board("Galleria Galli", 45.0, "art_gallery")
    others = board("Pho and Tacos and more", 155.0, "cafe"), board("A gallery far away", 300.0, "art_gallery")
    assert SightGoal("", kinds=("art_gallery",)).named_by(hanging, [hanging, name, *others]) == name
    assert SightGoal("", "Gallery").named_by(hanging, [hanging, name, *others]) == hanging


def facing(heading: float, text: str, *kinds: str) -> KnownSign:
    one = sign(text, *kinds)
    return replace(one, sign=replace(one.sign, heading=heading))


@pytest.mark.parametrize(
    ("beside", "headings", "is_there"),
    [
        (("bank", "dentist"), {"bank": 50.0, "dentist": 130.0}, True),
        (("bank", "dentist"), {"bank": 50.0}, True),  # the dentist's sign says nothing
        (("bank", "dentist"), {"bank": 50.0, "gym": 130.0}, True),  # of three neighbours, two are told
        (("bank", "dentist"), {"bank": 230.0}, False),  # across the street
        (("bank", "dentist"), {"bank": 26.0}, False),  # two doors away
        (("bank", "dentist"), {}, False),
        (("restaurant", "dentist"), {"restaurant": 50.0}, False),  # they are everywhere
        (("restaurant", "dentist"), {"restaurant": 50.0, "dentist": 130.0}, True),
        (("secondary_school", "dentist"), {"school": 50.0}, True),
    ],
)
def test_a_look_is_told_by_its_kind_and_its_neighbours(
    beside: tuple[str, ...], headings: dict[str, float], is_there: bool
) -> None:
    """A bakery at the right hand of a street to the north."""
    streets = plus_sign()
    here = streets.panorama("n2")
    found = Neighbours(SightGoal("", kinds=("bakery",), beside=beside))
    others = [facing(heading, kind, kind) for kind, heading in headings.items()]
    found.read(here, [facing(90.0, "Loaf", "bakery"), *others])
    assert [one.known.sign.text for one in found.hints(here.position)] == ["Loaf"] * is_there


def test_neighbours_may_be_read_before_or_after_the_place_itself() -> None:
    streets = plus_sign()
    found = Neighbours(SightGoal("", kinds=("bakery",), beside=("bank", "dentist")))
    first, second = streets.panorama("n1"), streets.panorama("n2")
    found.read(second, [facing(90.0, "Loaf", "bakery")])
    assert found.hints(second.position) == []
    assert [one.pano_id for one in found.fronts_near(first.position)] == ["n2"]
    found.read(first, [facing(90.0, "Bank", "bank")])
    (hint,) = found.hints(first.position)
    assert (hint.pano_id, found.unseen(hint)) == ("n2", {"dentist"})
    assert found.hints(streets.panorama("s3").position) == []


def test_rules_take_the_nearest_way_and_turn_least() -> None:
    roads = [
        {"index": 0, "description": "", "junctions": 2, "turn": 90.0},
        {"index": 1, "description": "", "junctions": 0, "turn": 170.0},
        {"index": 2, "description": "", "junctions": 0, "turn": 20.0},
    ]
    question = WayQuestion.model_validate({"task": "", "roads": roads})
    assert choose_way(question, load_lexicon()).index == 2
    told = choose_and_tell(question, load_lexicon())
    assert (told.index, told.goal_is) == (2, "not known to the rules")
    with pytest.raises(MindFailed, match="no way"):
        choose_way(WayQuestion(task="", roads=()), load_lexicon())


class Boards:
    """Street view and reader at once: boards seen to the east of panoramas, or to the north at their side."""

    def __init__(self, streets: MadeStreetView, boards: dict[str, str]) -> None:
        self._streets, self._boards = streets, boards
        self._shown: dict[int, str] = {}
        self.nearest, self.panorama = streets.nearest, streets.panorama

    def view(self, pano_id: str, camera: Camera) -> View:
        view = self._streets.view(pano_id, camera)
        far = camera.fov == 20.0
        seen = {90: f"far {pano_id}" if far else pano_id, 0: f"side {pano_id}"}
        text = self._boards.get(seen.get(round(camera.heading) % 360, ""), "")
        self._shown[id(view.pixels)] = text
        self._kept = (*getattr(self, "_kept", ()), view.pixels)
        return view

    def read(self, images: Sequence[Image]) -> list[list[TextLine]]:
        return [self._line(image) for image in images]

    def _line(self, image: Image) -> list[TextLine]:
        text, (height, width) = self._shown.get(id(image)), image.shape[:2]
        box = (width / 2 - 60.0, height / 2 - 15.0, width / 2 + 60.0, height / 2 + 15.0)
        return [TextLine(text, 0.9, box)] if text else []


class FoundLines:
    """A reader that finds the same lines in each picture."""

    def __init__(self, lines: list[TextLine]) -> None:
        self._lines = lines

    def read(self, images: Sequence[Image]) -> list[list[TextLine]]:
        return [self._lines for _ in images]


def search(
    streets: MadeStreetView,
    boards: dict[str, str],
    task: str,
    mind: Mind | None = None,
    *,
    decisions: int = 20,
    abilities: Abilities | None = None,
    start: Pose = EAST_BOUND,
    far: Callable[[Panorama, Link], RoadSight] | None = None,
) -> tuple[list[str], Outcome | None, SignLooks]:
    world = Boards(streets, boards)
    looks = SignLooks(world, world, Models().lexicon("sign-lexicon"))
    mind = mind or RuleMind()
    goal = goal_in_words(task, mind, KINDS)
    explorer = SightExplorer(mind, looks, goal, abilities, far=far)
    navigator = SightNavigator(streets, LinksMover(streets), explorer, max_decisions=decisions, max_moves=200)
    steps = list(navigator.walk(start))
    return [step.pose.pano_id for step in steps], steps[-1].choice.outcome, looks


def test_a_search_goes_straight_on_then_back_over_its_own_map_until_a_sign_shows_the_goal() -> None:
    way, ended, looks = search(plus_sign(), {"s2": "Lantern Books"}, 'Find the place called "Lantern Books".')
    assert way[:7] == ["w3", "w2", "w1", "c", "e1", "e2", "e3"]
    assert way[-1] == "s2"
    assert ended == FOUND
    assert looks.views > len(AROUND) * 3


def test_a_sign_far_down_a_street_is_followed() -> None:
    boards = {"far c": "Lantern Books", "e2": "Lantern Books"}
    way, *_ = search(plus_sign(), boards, 'Find the place called "Lantern Books".', start=Pose("s2", 0.0))
    assert way == ["s2", "s1", "c", "e1", "e2"]


def test_of_ways_as_near_that_with_most_boards_is_taken_and_each_is_looked_down_once() -> None:
    looked: list[tuple[str, str]] = []

    def far(panorama: Panorama, link: Link) -> RoadSight:
        looked.append((panorama.id, link.pano_id))
        return RoadSight((SeenFront(panorama.position, 60.0),) if link.pano_id == "w1" else ())

    task = 'Find the place called "Lantern Books".'
    for sight, first in ((None, "e1"), (far, "w1")):
        way, *_ = search(plus_sign(1), {}, task, start=Pose("n1", 180.0), far=sight)
        assert way[way.index("s1") + 2] == first
    assert len(looked) == len(set(looked))


def test_a_plate_that_names_the_street_is_followed() -> None:
    boards = {"far c": "Elm Street 1-20", "e2": "Lantern Books"}
    task = 'Find the place called "Lantern Books"{}.'
    way, *_ = search(plus_sign(), boards, task.format(", at 12 Elm Street"), start=Pose("s2", 0.0))
    assert way == ["s2", "s1", "c", "e1", "e2"]
    way, *_ = search(plus_sign(), boards, task.format(""), start=Pose("s2", 0.0))
    assert way[:4] == ["s2", "s1", "c", "n1"]


def test_a_signpost_to_the_centre_makes_up_for_a_turn() -> None:
    straight = {"index": 0, "description": "", "turn": 20.0}
    aside = {"index": 1, "description": "", "turn": 80.0}
    for signed, index in ((False, 0), (True, 1)):
        roads = [straight, aside | {"to_centre": signed}]
        question = WayQuestion.model_validate({"task": "", "roads": roads})
        assert choose_way(question, load_lexicon()).index == index
    centre = KnownSign(sign("Centre 650 m").sign, (), Pointer("Centre", 650))
    assert leads_to_centre([sign("Centre"), centre])
    assert not leads_to_centre([sign("Centre")])


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ("Museum of Tides 300 m", Pointer("Museum of Tides", 300)),
        ("Museum of Tides 300m", Pointer("Museum of Tides", 300)),
        ("小川画廊150 m", Pointer("小川画廊", 150)),
        ("Museum of Tides 1200 m", Pointer("Museum of Tides", 1200)),
        ("Museum of Tides - 1 km", Pointer("Museum of Tides", 1000)),
        ("Public Library 300 n", Pointer("Public Library", 300)),
        ("Museum of Tides", None),
        ("300 m", None),
        ("Club 300", None),
        ("Studio 54 Milano", None),
        ("Open 9 am", None),
    ],
)
def test_a_signpost_names_a_place_and_how_far_it_is(text: str, pointer: Pointer | None) -> None:
    assert pointer_in(text) == pointer


def test_a_signpost_is_no_place_and_is_read_a_line_at_a_time() -> None:
    lines = [
        TextLine(text, 0.9, (100.0, 100.0 + 20 * row, 300.0, 116.0 + 20 * row))
        for row, text in enumerate(("Elm Street", "1-20", "Tide Museum 300 m", "Old Library 50 m"))
    ]
    read = [sign.text for sign in signs_and_pointers(Camera(0.0), lines)]
    assert read == ["Tide Museum 300 m", "Old Library 50 m", "Elm Street 1-20"]
    pointed = KnownSign(sign("Old Library 50 m").sign, ("library",), Pointer("Old Library", 50))
    for goal in (SightGoal("", "Old Library"), SightGoal("", kinds=("library",))):
        assert goal.shown_by([pointed]) is None
        assert goal.hinted_by([pointed]) == []
        assert goal.pointed_by([pointed]) == [Pointer("Old Library", 50)]
    assert SightGoal("", "New Library").pointed_by([pointed]) == []


def test_a_signpost_is_followed_to_what_stands_there() -> None:
    boards = {"far c": "Lantern Books 50 m", "c": "Lantern Books 50 m", "side e2": "Lantern Books"}
    task = 'Find the place called "Lantern Books".'
    way, ended, _ = search(plus_sign(), boards, task, start=Pose("s2", 0.0))
    assert way == ["s2", "s1", "c", "e1", "e2"]
    assert ended == FOUND


def test_what_hangs_over_a_street_is_no_front_in_a_town_with_signposts() -> None:
    """A reader may miss the distance on a signpost."""
    boards = {"far c": "Lantern Books 50 m", "c": "Lantern Books"}
    task = 'Find the place called "Lantern Books".'
    _, ended, _ = search(plus_sign(), boards, task, start=Pose("s2", 0.0))
    assert ended == FOUND  # no signpost was read before
    _, ended, _ = search(plus_sign(), boards | {"s1": "Centre 150 m"}, task, start=Pose("s2", 0.0))
    assert ended == NOT_FOUND


def test_in_a_town_with_signposts_it_leaves_what_it_knows() -> None:
    seen = SeenMap()
    streets = grid(6)
    for name in ("2.2", "2.3", "3.2"):
        seen.visit(streets.panorama(name))
    ways = {
        (way.pano_id, way.link.pano_id): seen.known_ahead(way)
        for way in seen.frontiers(Pose("3.2", 90.0), streets.panorama("3.2").links)
    }
    assert ways["3.2", "4.2"] == 2  # 150 m and more from the third
    assert ways["3.2", "3.3"] == 3
    near = {"index": 0, "description": "", "known_ahead": 6}
    question = {"task": "", "roads": [near, {"index": 1, "description": "", "junctions": 2}]}
    assert choose_way(WayQuestion.model_validate(question), load_lexicon()).index == 1


def test_a_signpost_that_misleads_is_followed_once() -> None:
    way, ended, _ = search(
        plus_sign(), {"far c": "Lantern Books 50 m"}, 'Find the place called "Lantern Books".'
    )
    assert {"n3", "e3", "s3", "w3"} <= set(way)
    assert way.count("e3") == 1
    assert ended == NOT_FOUND


def test_a_place_that_was_passed_and_is_not_the_goal_is_not_gone_to_again() -> None:
    """Of two libraries, the one between a bank and a dentist is meant."""
    boards = {"far c": "Old Library 50 m", "side e1": "Old Library"}
    told = "Find the library that stands between a bank and a dentist."
    _, ended, _ = search(plus_sign(), boards, told, start=Pose("s2", 0.0))
    assert ended == NOT_FOUND
    far = {"index": 0, "description": "", "junctions": 5}
    near = {"index": 1, "description": ""}
    question = {"task": "", "roads": [far | {"pointed_m": 300}, near]}
    chosen = choose_way(WayQuestion.model_validate(question), load_lexicon())
    assert (chosen.index, chosen.reason) == (0, "A signpost there points to what the task may mean.")


def test_a_search_ends_where_everything_was_walked() -> None:
    way, ended, _ = search(plus_sign(), {}, 'Find the place called "Nowhere Inn".')
    assert {"n3", "e3", "s3", "w3"} <= set(way)
    assert ended == NOT_FOUND


def test_without_a_memory_or_going_back_it_walks_until_nothing_is_left_to_spend() -> None:
    for abilities in (Abilities(remembers=False), Abilities(goes_back=False)):
        _, ended, _ = search(
            plus_sign(), {}, 'Find the place called "Nowhere Inn".', decisions=6, abilities=abilities
        )
        assert ended == SPENT


def test_a_picture_is_known_by_its_largest_sign() -> None:
    lines = [
        TextLine("Hospital", 0.9, (10.0, 10.0, 60.0, 30.0)),
        TextLine("\u6cf0\u8c50", 0.9, (100.0, 10.0, 300.0, 60.0)),
    ]
    looks = SignLooks(plus_sign(), FoundLines(lines), Models().lexicon("sign-lexicon"))
    assert goal_in_picture(np.zeros((90, 320, 3), np.uint8), "", looks).name == "\u6cf0\u8c50"
    assert (
        goal_in_picture(np.zeros((90, 320, 3), np.uint8), "", replace(looks, reader=FoundLines([]))).name
        == ""
    )


def test_what_a_picture_shows_is_looked_for() -> None:
    streets = plus_sign()
    world = Boards(streets, {"e1": "Loaf & Co Bakery"})
    looks = SignLooks(world, world, Models().lexicon("sign-lexicon"))
    shown = world.view("e1", Camera(90.0)).pixels
    goal = goal_in_picture(shown, "Find the place in the picture.", looks)
    assert (goal.name, goal.kinds) == ("Loaf & Co Bakery", ("bakery",))


class Told(RuleMind):
    """Rules that keep what a model would be told."""

    def __init__(self) -> None:
        super().__init__()
        self.letters: list[int] = []

    def ask(self, prompt: Prompt[ReplyT], *, images: Pictures = (), **inputs: object) -> ReplyT:
        if prompt.name == "movement/sight-way":
            self.letters.append(len(render(prompt, inputs)))
        return super().ask(prompt, images=images, **inputs)


def grid(side: int) -> MadeStreetView:
    """Streets like graph paper, a junction every 50 m."""
    points = {f"{x}.{y}": (50.0 * x, 50.0 * y) for x in range(side) for y in range(side)}
    edges = [f"{x}.{y}-{x + 1}.{y}" for x in range(side - 1) for y in range(side)]
    edges += [f"{x}.{y}-{x}.{y + 1}" for x in range(side) for y in range(side - 1)]
    return MadeStreetView(points, edges)


def test_a_question_stays_short_however_much_was_seen() -> None:
    mind = Told()
    long = "A Name On A Board That Is As Long As Names Get"
    boards = {f"far {x}.{y}": long for x in range(9) for y in range(9)}
    boards |= {f"{x}.{y}": f"{long} {x}{y}" for x in range(9) for y in range(9)}
    search(
        grid(9), boards, 'Find the place called "Nowhere Inn".', mind, decisions=70, start=Pose("0.0", 90.0)
    )
    assert len(mind.letters) > 40
    assert max(mind.letters) < 2000 * 3  # a token has three letters or more in English
    assert MOST_WAYS == 8

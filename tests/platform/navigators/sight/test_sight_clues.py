"""What signs tell beside their places: streets, house numbers, kinds that cluster."""

import pytest

from virl.geo.globe import LatLng, distance
from virl.mind.lexicon import load_lexicon
from virl.platform.city.streetview import Camera, Panorama
from virl.platform.navigators.sight.clues import (
    Clues,
    address_in_task,
    front_position,
    load_street_words,
    names_of_streets,
)
from virl.platform.navigators.sight.looking import KnownSign
from virl.platform.navigators.sight.rules import WayQuestion, choose_way
from virl.platform.navigators.tourist.signs import Sign

HERE = LatLng(10.0, 20.0)
DEGREE_M = 110_600.0  # at this latitude


def sign(text: str, *kinds: str, height: float = 20.0) -> KnownSign:
    return KnownSign(Sign(text, 0.0, 0.9, Camera(0.0), (10.0, 10.0, 60.0, 10.0 + height)), kinds)


def panorama(metres_north: float) -> Panorama:
    position = LatLng(HERE.lat + metres_north / DEGREE_M, HERE.lng)
    return Panorama(f"p{metres_north:.0f}", position, 0.0, ())


@pytest.mark.parametrize(("heading", "away"), [(90.0, 7.5), (330.0, 15.0), (1.0, 36.1)])
def test_a_sign_hangs_where_the_line_of_sight_meets_the_wall(heading: float, away: float) -> None:
    there = front_position(HERE, 0.0, heading)
    assert distance(HERE, there) == pytest.approx(away, abs=0.1)
    assert (there.lng > HERE.lng) is (heading < 180.0)


@pytest.mark.parametrize(
    ("text", "streets"),
    [
        ("Mill Street", ("mill street",)),
        ("MILL STREET BAKERY", ("mill street",)),
        ("Find the bank in Mill Street, please.", ("mill street",)),
        ("Street", ()),
        ("12 Street", ()),
        ("rue Mercière", ("rue mercière",)),
        ("Hauptstraße", ("hauptstrasse",)),
        ("Mannerheimintie", ("mannerheimintie",)),
        ("Platz", ()),
        ("Sweetie Pie", ()),
        ("Fire Brigade", ()),
        ("", ()),
    ],
)
def test_streets_are_known_by_their_words(text: str, streets: tuple[str, ...]) -> None:
    assert names_of_streets(text) == streets


@pytest.mark.parametrize(
    ("task", "streets", "number"),
    [
        ('Find the place called "Old Inn", at 144 Swan Road.', {"swan road"}, 144),
        ('Find the place called "Mill Street Inn 7", at 9 Swan Road.', {"swan road"}, 9),
        ('Find the place called "Mill Street Inn 7".', {"mill street"}, None),
        ("Find the bank in Hauptstraße 12.", {"hauptstrasse"}, 12),
        ("A coffee. It is Sunday at 21:30.", set(), None),
    ],
)
def test_a_task_tells_an_address(task: str, streets: set[str], number: int | None) -> None:
    told = address_in_task(task)
    assert (told.streets, told.number) == (streets, number)


@pytest.mark.parametrize(
    ("read", "away"),
    [
        ("Swan Road / 41-53", 0),
        ("SWAN ROAD 53 - 41", 0),
        ("Swan Road / 60-80", 10),
        ("Swan Road / 1-20", 30),
        ("Swan Road", None),
    ],
)
def test_plates_tell_how_far_a_number_is(read: str, away: int | None) -> None:
    told = address_in_task("Find the bank at 50 Swan Road.")
    small, large = sign("Swan Road 50-50", height=9.0), sign(read)
    plate = told.seen_on([sign("Mill Street 1-99", height=60.0), small, large])
    assert plate is large
    assert told.numbers_away(large) == away
    assert address_in_task("Find the bank in Swan Road.").numbers_away(large) is None
    assert told.seen_on([sign("Swan"), sign("Mill Street")]) is None


def test_no_word_is_known_twice_but_those_of_two_languages() -> None:
    words = load_street_words()
    assert not words.before & set(words.endings)
    assert words.after & words.before == {"avenue", "boulevard"}


def test_what_was_read_is_told_from_where_the_walker_stands() -> None:
    clues = Clues()
    assert clues.in_words(HERE) == []
    clues.read(panorama(100), [sign("Mill Street"), sign("12"), sign("Old Inn", "lodging")])
    clues.read(panorama(0), [sign("40 b"), sign("Corner Inn", "lodging"), sign("Welcome")])
    assert clues.in_words(HERE) == [
        "Signs read: 'Welcome' here; 'Corner Inn' (lodging) here; 'Old Inn' (lodging) 100 m north",
        "Streets by their signs: 'Mill Street' 100 m north",
        "House numbers: '40 b' here; '12' 100 m north; they rise towards the south",
        "Kinds of place seen more than once: 2 of lodging, around 50 m north",
    ]


def test_a_sign_that_is_read_twice_is_where_its_letters_were_larger() -> None:
    clues = Clues()
    clues.read(panorama(50), [sign("Old Inn", height=9.0)])
    clues.read(panorama(0), [sign("OLD INN", height=30.0)])
    clues.read(panorama(80), [sign("Old Inn", height=12.0)])
    assert clues.in_words(HERE) == ["Signs read: 'OLD INN' here"]


def test_numbers_at_one_corner_tell_no_direction() -> None:
    clues = Clues()
    clues.read(panorama(0), [sign("12"), sign("14")])
    assert clues.in_words(HERE) == ["House numbers: '14' here; '12' here"]


@pytest.mark.parametrize(("junctions", "taken"), [(10, 1), (12, 0)])
def test_rules_walk_some_junctions_for_a_sign_of_the_street(junctions: int, taken: int) -> None:
    roads = [
        {"index": 0, "description": "", "junctions": 0, "turn": 0.0},
        {"index": 1, "description": "", "junctions": junctions, "turn": 90.0, "names_street": True},
    ]
    question = WayQuestion.model_validate({"task": "", "roads": roads})
    chosen = choose_way(question, load_lexicon())
    assert chosen.index == taken
    assert ("names the street" in chosen.reason) is bool(taken)


def test_rules_follow_house_numbers() -> None:
    away = {0: None, 1: 60, 2: 15, 3: 90}
    roads = [
        {"index": index, "description": "", "turn": 90.0 * index, "names_street": True, "numbers_away": far}
        for index, far in away.items()
        if far is not None
    ]
    question = WayQuestion.model_validate({"task": "", "roads": roads})
    assert choose_way(question, load_lexicon()).index == 2

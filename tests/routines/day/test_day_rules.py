"""The rules for a day, each on its prompt's inputs."""

import pytest
from pydantic import ValidationError

from virl.clock import parse_clock
from virl.mind.lexicon import load_lexicon
from virl.mind.prompt import load_prompt
from virl.mind.rules import RuleMind
from virl.routines.day.replies import (
    Change,
    DayDraft,
    DayEstimate,
    DayVerdict,
    SceneryRatings,
    Told,
    UngroundedDay,
)
from virl.routines.day.settings import FEELINGS, Day
from virl.routines.day.wish_rules import day_book, kinds_asked_for, likes

CALM = dict.fromkeys(FEELINGS, 50.0) | {"hunger": 5.0}
ALL = [{"sort": sort, "count": 2, "names": []} for sort in day_book().pastimes]
ANA = {"name": "Ana", "background": "A teacher.", "intention": "A good day."}


def inputs(**given):
    return {
        "client": ANA, "state": CALM, "day": "wed", "now": "10:30", "until": "21:00", "budget_usd": 100.0,
        "here": "", "done": [], "wishes": [], "offers": ALL, "scenic": None, "refused": [],
    } | given  # fmt: skip


def draft(**given):
    return RuleMind().ask(load_prompt("day/draft", DayDraft), **inputs(**given))


def revised(refused, **given):
    return RuleMind().ask(load_prompt("day/draft", DayDraft), **inputs(**given, refused=refused))


def done(kind, starts, ends, place="", sort=""):
    return {"kind": kind, "starts": starts, "ends": ends, "what": "x", "place": place, "sort": sort}


def client(background, intention="A day."):
    return {"client": {"name": "Ana", "background": background, "intention": intention}}


@pytest.mark.parametrize(
    ("background", "sort"),
    [
        ("He reads history and exhibitions are his life.", "museum"),
        ("She paints, and looks at pictures in galleries.", "art_gallery"),
        ("He works out daily and loves sport.", "gym"),
        ("She collects novels and poetry.", "book_store"),
        ("Massage and sauna are what she needs.", "spa"),
    ],
)
def test_what_somebody_likes_is_proposed(background, sort):
    assert draft(**client(background)).place == sort


@pytest.mark.parametrize(
    ("text", "sort", "liked"),
    [
        ("She loves museums.", "museum", True),
        ("He cannot stand museums.", "museum", False),
        ("No museums, but parks are fine.", "park", True),
        ("I am tired of churches.", "church", False),
        ("Not another film.", "movie_theater", False),
        ("A park and no museums.", "park", True),
        ("A day without churches and with a museum.", "museum", True),
        ("She loves parks and hates museums.", "museum", False),
        ("Museums she can do without.", "museum", False),
    ],
)
def test_a_denial_reaches_as_far_as_its_clause(text, sort, liked):
    assert (likes(text, load_lexicon())[sort] > 0) == liked


def test_what_was_said_today_counts_more_than_what_is_known():
    known = client("She reads history and loves exhibitions and museums.")
    assert draft(**known).place == "museum"
    assert (
        draft(**known, wishes=["No museums today, let us see a gallery with paintings."]).place
        == "art_gallery"
    )


@pytest.mark.parametrize(
    ("now", "state", "meals", "meal"),
    [
        ("08:00", {"hunger": 60.0}, [], "Breakfast"),
        ("08:00", {"hunger": 20.0}, [], None),
        ("12:00", {"hunger": 30.0}, [], "Lunch"),
        ("12:00", {"hunger": 30.0}, [done("eat", "09:00", "09:40")], None),
        ("13:00", {"hunger": 30.0}, [done("eat", "09:00", "09:40")], "Lunch"),
        ("16:00", {"hunger": 30.0}, [], None),
        ("16:00", {"hunger": 80.0}, [], "Something to eat"),
        ("16:00", {"hunger": 80.0}, [done("eat", "14:00", "15:00")], None),
        ("18:30", {"hunger": 30.0}, [done("eat", "12:00", "13:00")], "Dinner"),
    ],
)
def test_meals_come_when_people_eat_and_are_hungry(now, state, meals, meal):
    found = draft(now=now, state=CALM | state, done=meals)
    assert (found.what if found.kind == "eat" else None) == meal


def test_breakfast_leaves_money_for_the_meals_of_the_day():
    hungry = CALM | {"hunger": 60.0}
    assert draft(now="08:00", state=hungry, budget_usd=36.0).what == "Breakfast"
    assert draft(now="08:00", state=hungry, budget_usd=35.0).kind != "eat"
    assert draft(now="08:00", state=hungry, budget_usd=13.0, until="11:00").what == "Breakfast"
    assert draft(now="08:00", state=CALM | {"hunger": 90.0}, budget_usd=13.0).kind == "eat"


def test_without_money_no_meal_is_looked_for():
    assert draft(now="12:00", state=CALM | {"hunger": 90.0}, budget_usd=5.0).kind != "eat"


def test_who_is_worn_out_rests():
    found = draft(state=CALM | {"energy": 10.0})
    assert (found.kind, found.place) == ("normal", "")


def test_the_scenic_spot_is_visited_once_and_by_day():
    seen = [done("normal", "09:00", "10:00", "a", "museum"), done("normal", "10:00", "10:30", "b", "park")]
    assert draft(scenic="A view", done=seen).kind == "scenic"
    assert draft(scenic="A view", done=[*seen, done("scenic", "10:00", "10:30", "c")]).kind != "scenic"
    assert draft(scenic="A view", done=seen, now="20:00").kind != "scenic"


def test_a_draft_stays_within_the_day_and_a_day_that_is_over_ends():
    assert parse_clock(draft(now="20:20").ends) <= parse_clock("21:00")
    assert draft(now="20:50").kind == "end"


def test_what_was_refused_is_not_proposed_again():
    first = draft()
    again = revised([{"kind": first.kind, "place": first.place, "why": "closed"}])
    assert (again.kind, again.place) != (first.kind, first.place)
    assert revised([{"kind": "eat", "place": "restaurant", "why": "full"}], now="12:00").kind != "eat"


def test_nothing_on_offer_leaves_time_of_ones_own():
    assert draft(offers=[]).what == "Time of one's own"


def test_the_thrifty_are_not_sent_where_it_is_dear():
    rich = draft(**client("She is stressed."), state=CALM | {"stress": 95.0, "pain": 60.0})
    poor = draft(
        **client("She is stressed."),
        state=CALM | {"stress": 95.0, "pain": 60.0},
        wishes=["Something cheaper."],
    )
    assert rich.place == "spa"
    assert poor.place != "spa"


def estimate(state=CALM, **activity):
    told = done("normal", "10:00", "11:00") | {"mode": "", "travel_minutes": 0, "known_usd": None} | activity
    return RuleMind().ask(load_prompt("day/estimate", DayEstimate), client=ANA, state=state, activity=told)


def test_a_meal_takes_hunger_a_walk_takes_energy_a_rest_gives_it():
    assert estimate(kind="eat", place="x", sort="restaurant").hunger.by == -53  # -60, and 7 for the hour
    assert estimate(kind="transport", mode="walking").energy.by == -15  # an hour's walk, and 3 for the hour
    assert estimate().energy.by == 15
    far = estimate(place="x", sort="library", mode="walking", travel_minutes=60)
    assert far.energy.by < estimate(place="x", sort="library").energy.by


def test_the_reason_of_a_change_is_what_moved_it_most():
    assert estimate(kind="eat", place="x", sort="restaurant").hunger.because == "a meal"
    assert estimate(place="x", sort="museum").pain.because == "x"


def test_a_known_price_is_taken():
    assert estimate(kind="eat", place="x", sort="restaurant", known_usd=50.0).cost_usd == 50.0
    assert estimate(kind="eat", place="x", sort="restaurant").cost_usd == day_book().meal_usd
    assert estimate().cost_usd == 0.0


def audit(activity, before=(), state=CALM, wishes=(), who=ANA):
    told = activity | {"mode": "", "travel_minutes": 0, "known_usd": 0.0, "cost_usd": 0.0}
    return RuleMind().ask(
        load_prompt("day/audit", DayVerdict), client=who, state=state, after=state, now="10:00",
        budget_usd=50.0, done=list(before), wishes=list(wishes), activity=told,
    )  # fmt: skip


def test_the_audit_refuses_what_makes_no_sense():
    museum = done("normal", "10:00", "11:00", "Old Museum", "museum")
    assert audit(museum).fits
    assert not audit(museum, wishes=["No museums."]).fits
    assert not audit(museum, before=[museum]).fits
    assert not audit(museum, state=CALM | {"energy": 5.0}).fits
    lunch = done("eat", "12:00", "13:00", "Diner", "restaurant")
    assert audit(lunch, state=CALM | {"hunger": 40.0}).fits
    assert not audit(lunch, before=[done("eat", "10:00", "11:00", "Cafe", "cafe")]).fits


def listen(said, **state):
    prompt = load_prompt("day/listen", Told)
    return RuleMind().ask(prompt, said=said, state=CALM | state, now="10:00")


@pytest.mark.parametrize(
    ("said", "feeling", "value"),
    [
        ("I am tired.", "energy", 15),
        ("I'm not tired at all.", "energy", 85),
        ("We are starving!", "hunger", 40),
        ("My feet hurt, but I am happy.", "pain", 85),
        ("My feet hurt, but I am happy.", "joy", 75),
        ("I am tired of museums.", "energy", None),
        ("Lovely weather.", "stress", None),
    ],
)
def test_feelings_are_heard(said, feeling, value):
    assert getattr(listen(said), feeling) == value


def test_a_feeling_that_is_heard_stays_on_its_scale():
    assert listen("I am exhausted.", energy=10.0).energy == 0


def test_what_is_about_the_day_is_kept_as_a_wish():
    assert listen("No  museums,\nplease.").wishes == ("No museums, please.",)
    assert listen("Somewhere cheaper.").wishes == ("Somewhere cheaper.",)
    assert listen("I am tired.").wishes == ()


def rate(green, sky, water):
    prompt = load_prompt("day/scenic", SceneryRatings)
    shares = {"green": green, "sky": sky, "water": water}
    [rated] = RuleMind().ask(prompt, place="Park", views=[shares]).ratings
    return rated


def test_more_green_sky_and_water_rate_higher_and_ten_is_the_most():
    assert rate(0, 0, 0).rating == 1.0
    assert rate(0.3, 0.2, 0).rating == 5.0
    assert rate(1, 1, 1).rating == 10.0
    assert rate(0.3, 0.2, 0).reason == "The picture shows 30% green, 20% sky."


def test_a_day_without_a_city_is_full_of_guesses():
    told = RuleMind().ask(
        load_prompt("day/ungrounded", UngroundedDay), client=ANA, state=Day().feelings, city="Nowhere",
        day="mon", starts="09:00", until="21:00", budget_usd=100.0,
    )  # fmt: skip
    ways = [one for one in told.activities if one.kind == "transport"]
    assert {parse_clock(one.ends) - parse_clock(one.starts) for one in ways} == {15}
    assert [one.what for one in told.activities if one.kind == "eat"] == ["Breakfast", "Lunch", "Dinner"]
    assert all(
        parse_clock(one.ends) <= parse_clock(two.starts)
        for one, two in zip(told.activities, told.activities[1:], strict=False)
    )
    assert sum(one.cost_usd for one in told.activities) <= 100.0


@pytest.mark.parametrize(
    ("given", "by"), [("+ 5", 5), ("-10", -10), ("\N{MINUS SIGN}3", -3), ("7 %", 7), (4, 4), ("12.6", 13)]
)
def test_signed_changes_are_read_as_models_write_them(given, by):
    assert Change(by=given, because="").by == by


@pytest.mark.parametrize("given", ["__import__('os')", "5 + 5", "", "lots", 101, None, "1e3"])
def test_what_is_no_change_is_refused(given):
    with pytest.raises(ValidationError):
        Change(by=given, because="")


def test_a_draft_must_end_after_it_begins():
    given = {"kind": "normal", "place": "", "what": "x", "mode": "any", "reason": "y"}
    assert DayDraft(**given, starts="9:00", ends="10.30").ends == "10:30"
    with pytest.raises(ValidationError, match="let it end later"):
        DayDraft(**given, starts="10:00", ends="10:00")
    with pytest.raises(ValidationError, match="is not a time"):
        DayDraft(**given, starts="__import__('os')", ends="10:00")


def test_kinds_that_are_asked_for_by_name_are_found() -> None:
    assert set(kinds_asked_for("She wants to see a zoo and some museums, but no church.")) == {
        "zoo",
        "museum",
    }
    assert kinds_asked_for("A good day, something beautiful.") == []

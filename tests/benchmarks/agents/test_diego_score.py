"""Diego's part of the benchmark, on users and records made by hand."""

import made_day_town as town

from benchmarks.agents.diego import USERS, cases, measures, user
from virl.character import find_character, load_character
from virl.settings import check_settings


def test_users_are_the_same_for_a_seed_differ_between_seeds_and_fit_the_character():
    city = town.day_town(*town.USUAL)
    ids = cases(city, 0)
    assert len(ids) == len(set(ids)) == USERS == 30
    first = [user(city, one, 0) for one in ids]
    assert first == [user(city, one, 0) for one in ids]
    assert first != [user(city, one, 1) for one in ids]
    character = load_character(find_character("diego"))
    for changes in first:
        check_settings(character.model_dump() | changes, type(character), source="test")


def test_the_lines_of_the_table_are_means_over_the_users():
    record = {
        "violations": {}, "baseline_violations": {"closed": 2, "budget": 1}, "activities": 6,
        "baseline_activities": 5, "filled": 0.9, "meals_on_time": None, "meals_had_when_due": 1.0,
        "budget_used": 0.5,
    }  # fmt: skip
    other = record | {"violations": {"travel": 1}, "baseline_violations": {}, "meals_on_time": 1.0}
    table = {(one.agent, one.what): one for one in measures([record, other])}
    violations = table["diego", "violations per itinerary"]
    assert isinstance(violations.value, Interval)
    assert violations.value.mean == 0.5
    assert violations.target == "0"
    baseline = table["diego, ungrounded", "violations per itinerary (budget 1, closed 2)"]
    assert isinstance(baseline.value, Interval)
    assert baseline.value.mean == 1.5
    meals = table["diego", "meals at usual hours"].value
    assert isinstance(meals, Interval)
    assert meals.mean == 1.0

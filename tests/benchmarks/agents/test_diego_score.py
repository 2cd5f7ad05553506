"""Diego's score, on users and records made by hand."""

import made_day_town as town

from benchmarks.agents.definition import Options, score, show
from benchmarks.agents.diego import DIEGO, USERS, cases, user
from virl.agent.character_file import find_character, load_character
from virl.bench.episode import Record
from virl.bench.statistics import estimate
from virl.settings.model import check_settings


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


def test_the_columns_of_the_table_are_means_over_the_users():
    data = {
        "violations": {}, "baseline_violations": {"closed": 2, "budget": 1}, "activities": 6,
        "baseline_activities": 5, "filled": 0.9, "meals_on_time": None, "meals_had_when_due": 1.0,
        "budget_used": 0.5,
    }  # fmt: skip
    other = data | {"violations": {"travel": 1}, "baseline_violations": {}, "meals_on_time": 1.0}
    records = [
        Record(f"diego/virlton/{number}", str(number), "virlton", "diego", "done", one)
        for number, one in enumerate((data, other))
    ]
    scores = score(records, Options())
    mean = {key: found.mean for key, tallies in scores.tallies.items() if (found := estimate(tallies))}
    assert mean["violations"] == 0.5
    assert mean["baseline_violations"] == 1.5
    assert mean["meals_on_time"] == 1.0  # of the only one who had a meal
    assert mean["budget_used"] == 0.5
    assert set(mean) == {metric.key for metric in DIEGO.metrics}
    assert any("budget 1, closed 2" in note for note in scores.notes)
    assert any("no violations" in note for note in scores.notes)
    assert show(records[1]).score == 0.0
    assert show(records[1]).outcome == "6 activities, violations: travel 1"

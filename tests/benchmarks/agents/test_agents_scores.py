"""The rows and columns of the agents' benchmark, from records made by hand."""

from dataclasses import replace
from typing import Any

import made_day_town as town
import pytest

from benchmarks.agents.definition import AGENTS, BENCHMARK, BY_ROW, Options, episodes, score, show
from benchmarks.agents.ling import LING
from benchmarks.agents.tool_agents import TOOL_AGENTS
from virl.bench.benchmark import Scores
from virl.bench.episode import Record
from virl.bench.resources import Resources
from virl.bench.statistics import estimate
from virl.errors import BadInput, UnknownName
from virl.platform.city.city import City


def records(row: str, *data: dict[str, Any]) -> list[Record]:
    return [
        Record(f"{row}/virlton/{number}", str(number), "virlton", row, "done", one)
        for number, one in enumerate(data)
    ]


def means(scores: Scores) -> dict[str, float]:
    return {key: found.mean for key, tallies in scores.tallies.items() if (found := estimate(tallies))}


def test_agents_with_tools_are_scored_where_they_are_named() -> None:
    assert set(TOOL_AGENTS) & set(Options().agent) == set()
    assert set(TOOL_AGENTS) < set(AGENTS)


def test_every_row_is_of_one_agent_and_every_metric_has_one_name() -> None:
    assert len(BY_ROW) == sum(len(agent.rows) for agent in AGENTS.values())
    keys = [metric.key for metric in BENCHMARK.metrics]
    assert len(keys) == len(set(keys))


def test_pengs_orders_are_held_against_the_best_and_what_he_read_wrong_counts_nowhere_else() -> None:
    read = {"mode": "walking", "end": "home", "read": True}
    told = read | {"told": True, "stops": 4, "seconds": 110.0, "best_seconds": 100.0, "given_seconds": 150.0}
    walked = told | {"told": False, "seconds": 100.0, "walked_m": 90.0, "route_m": 100.0, "reached": True}
    many = told | {"told": False, "stops": 13, "seconds": 95.0}
    wrong = {"stops": 5, "mode": "walking", "end": "open", "told": True, "read": False}
    scores = score(records("peng", told, walked, many, wrong), Options())
    assert means(scores) == pytest.approx(
        {
            "over_shortest": 1.05,
            "given_over_shortest": 1.5,
            "over_fast_tsp": 0.95,
            "given_over_fast_tsp": 1.5,
            "walked_over_route": 0.9,
            "told_read": 0.5,
        }
    )
    assert "2 with 4 to 12 stops, 1 with 13 to 25, 1 walked, 2 told in words" in scores.notes[0]
    shown = [show(one) for one in records("peng", told, many, wrong)]
    assert [one.outcome for one in shown] == [
        "4 stops, 110 % of the best time",
        "13 stops, 95 % of the best time",
        "5 stops, read wrong",
    ]
    assert [one.score for one in shown] == [pytest.approx(100 / 110), 1.0, 0.0]


def test_lings_walks_are_counted_by_where_they_ended_and_how_often_she_asked() -> None:
    walk = {"destination": "Old Bank", "metres": 200.0, "away_m": 3.0, "walked_m": 200.0, "reason": "seen"}
    at_once = walk | {"arrived": True, "first": True, "believes": True, "asked": 1}
    lost = walk | {"arrived": True, "first": False, "believes": True, "asked": 2}
    misled = walk | {"arrived": False, "first": False, "believes": True, "asked": 2, "away_m": 80.0}
    gave_up = walk | {"arrived": False, "first": False, "believes": False, "asked": 3}
    scores = score(records("ling, oracle, honest", at_once, lost, misled, gave_up), Options())
    assert means(scores) == pytest.approx(
        {"arrived": 0.5, "first": 0.25, "elsewhere": 0.25, "arrived_again": 1 / 3}
    )
    assert "at least 95 %" in scores.notes[0]
    assert "wanted" not in score(records("ling, oracle, paper", at_once), Options()).notes[0]
    assert show(records("ling, oracle, honest", misled)[0]).outcome == "stopped 80 m away: seen"


def test_a_pick_that_is_missing_fits_nothing_and_a_ranking_is_scored_by_agreement() -> None:
    picked = {"intention": "To eat.", "pick": "p1", "fits": True, "barred": False}
    picked |= {"random_fits": 0.25, "best_rated_fits": False}
    none = picked | {"pick": None, "fits": False}
    assert means(score(records("aria", picked, none), Options())) == {
        "fits": 0.5,
        "barred": 0.0,
        "random_fits": 0.25,
        "best_rated_fits": 0.0,
    }
    [right, without] = records("aria", picked, none)
    failed = replace(without, status="failed", reason="no wish was understood")
    shown = [show(one) for one in (right, without, failed)]
    assert [one.outcome for one in shown] == [
        "picked p1: fits",
        "nothing picked: does not fit",
        "failed: no wish was understood",
    ]
    assert shown[0].text == "To eat."
    ranked = {"homes": 12, "correlation": -0.5, "by_price": 0.1, "random": 0.0}
    (one,) = records("vivek", ranked | {"pick": "h", "pick_beaten_by": 0.4})
    assert means(score([one], Options()))["correlation"] == -0.5
    assert show(one).score == 0.0


class MadeResources(Resources):
    """Has one city."""

    def __init__(self, city: City) -> None:
        super().__init__()
        self._made = city

    def city(self, name: str) -> City:
        return self._made


def test_an_unknown_agent_and_a_city_without_truth_are_refused() -> None:
    with pytest.raises(UnknownName, match="hiro"):
        episodes(Options(agent=("hiro",)), Resources())
    city = town.day_town(*town.USUAL)
    assert city.truth is None
    with pytest.raises(BadInput, match="no ground truth"):
        episodes(Options(agent=("diego",)), MadeResources(city))


@pytest.mark.slow
def test_ling_goes_each_way_by_reading_and_by_truth() -> None:
    found = episodes(Options(agent=("ling", "ling_paper", "ling")), Resources())
    assert [one.model for one in found[:2]] == list(LING.rows)
    assert found[0].case == found[1].case == "ling-00"
    assert len(found) == 2 * 2 * 60
    assert len({one.id for one in found}) == len(found)

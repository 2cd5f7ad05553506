"""Diego's routine with the rules, in a small town: whatever he plans can be done."""

import json
import re
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import made_day_town as town
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from virl.agent.run import Run
from virl.agent.user import Feedback, Moment
from virl.bench import agent_runs
from virl.bench.agent_runs import run_in_folder
from virl.clock import parse_clock
from virl.errors import BadInput, BudgetExceeded, MindFailed, NotFound
from virl.journal.records import Result
from virl.journal.report import render_report
from virl.mind.rules import RuleMind
from virl.money.ledger import Ledger
from virl.platform.city.city import Capabilities, City
from virl.platform.city.maps import Journey, JourneyLeg, Route
from virl.platform.city.places import Place
from virl.platform.providers.google.places import normal_types
from virl.routines.day.checker import CityFacts, DayTerms, check, entries_of
from virl.routines.day.settings import FEELINGS, Day
from virl.serve.google.shown_places import TYPES

CLIENT = {"name": "Ana", "background": "She likes art.", "intention": "A good day."}
AFTERNOON = {"scenic": False, "starts": "14:45", "ends": "17:15"}
"""Between meals: Aria is not asked."""
WHOLE = {"starts": "09:00", "ends": "21:00"}
START = {"lat": town.CENTER.lat, "lng": town.CENTER.lng}


class Says:
    """A user who says something after so many activities, and counts how often they are asked."""

    def __init__(self, **said: Feedback) -> None:
        self.said = {int(key.removeprefix("after")): value for key, value in said.items()}
        self.moments: list[Moment] = []

    def expect(self, states):
        assert "hunger" in states

    def feedback(self, moment: Moment) -> Feedback | None:
        self.moments.append(moment)
        return self.said.get(moment.done)


def plan(
    folder: Path,
    city: City | None = None,
    client: dict[str, str] | None = None,
    clock: str = "sat 08:00",
    *,
    user: Any = None,
    mind: Any = None,
    **day: Any,
) -> Result:
    changes = {
        "client": client or CLIENT,
        "day": AFTERNOON | day,
        "clock": clock,
        "start": START,
    }
    city = city or town.day_town(*town.USUAL)
    return run_in_folder("diego", city, folder, changes=changes, user=user, mind=mind)


def activities(result: Result) -> list[dict[str, Any]]:
    found: Any = result.answer["activities"]
    return [one for one in found if one["kind"] != "transport"]


def sorts(result: Result) -> list[str]:
    return [one["sort"] for one in activities(result)]


def notes(folder: Path, topic: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    return [line for line in lines if line.get("topic") == topic]


@pytest.mark.slow
def test_a_whole_day_is_filled_with_what_the_client_likes_and_two_meals(tmp_path: Path) -> None:
    result = plan(tmp_path / "run", budget_usd=120.0, **WHOLE)
    assert result.status == "finished"
    assert result.answer["violations"] == []
    done = activities(result)
    assert [one["what"] for one in done if one["kind"] == "eat"] == ["Breakfast", "Lunch", "Dinner"]
    assert {"museum", "park", "book_store"} <= set(sorts(result))
    assert done[-1]["ends"] == "21:00"
    assert result.answer["spent_usd"] == pytest.approx(
        sum(one["cost_usd"] for one in result.answer["activities"])  # type: ignore[attr-defined]
    )


@pytest.mark.slow
def test_meals_come_from_aria_and_ways_take_their_real_time(tmp_path: Path) -> None:
    result = plan(tmp_path / "run", starts="11:30", ends="14:00")
    consulted = list((tmp_path / "run" / "consulted").iterdir())
    assert len(consulted) == 1
    way, meal, *_ = result.answer["activities"]  # type: ignore[misc]
    assert (way["kind"], meal["kind"]) == ("transport", "eat")
    assert meal["place"] in {"Noodle House", "Fish Kitchen"}
    seconds = town.DayMaps().route([town.CENTER, town.LatLng(meal["lat"], meal["lng"])]).duration
    minutes = parse_clock(way["ends"]) - parse_clock(way["starts"])
    assert minutes - 1 < seconds / 60 <= minutes


@pytest.mark.slow
def test_no_money_buys_nothing(tmp_path: Path) -> None:
    result = plan(tmp_path / "run", budget_usd=0.0, **WHOLE)
    assert result.answer["spent_usd"] == 0.0
    assert result.answer["violations"] == []
    assert len(activities(result)) >= 5
    assert not [one for one in activities(result) if one["kind"] == "eat"]


@pytest.mark.slow
def test_half_an_hour_holds_one_thing(tmp_path: Path) -> None:
    result = plan(tmp_path / "run", starts="15:00", ends="15:30")
    assert len(activities(result)) == 1
    assert result.answer["violations"] == []


def test_at_night_there_is_only_time_of_ones_own(tmp_path: Path) -> None:
    closed = tuple(one for one in town.USUAL if one.name not in {"The Fox", "Green Park"})
    result = plan(tmp_path / "run", town.day_town(*closed), starts="02:00", ends="05:00")
    assert {one["place"] for one in activities(result)} == {""}
    assert result.answer["violations"] == []


def test_each_activity_shows_its_drafts_and_the_three_feelings_that_change_most(tmp_path: Path) -> None:
    result = plan(tmp_path / "run", town.day_town(), state={"stress": 60, "joy": 35, "hunger": 10})
    _, *parts = render_report(tmp_path / "run").split('class="activity group"')
    shown = [re.findall(r"(\w+) <b>(\d+)</b> <svg", part) for part in parts]
    every: Any = result.answer
    states = [every["state_before"], *(one["state"] for one in every["activities"])]
    spans = {name: max(one[name] for one in states) - min(one[name] for one in states) for name in FEELINGS}
    most = sorted(FEELINGS, key=lambda name: -spans[name])[:3]
    assert shown == [[(name, f"{one['state'][name]:.0f}") for name in most] for one in activities(result)]
    assert all('data-kind="draft"' in part and 'data-kind="audit"' in part for part in parts)
    assert not re.search(r"(?:stress|joy|energy) [+-]\d", "".join(parts))


@pytest.mark.parametrize("looks", [0, 1])
def test_each_place_is_seen_where_views_are_drawn(
    looks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_runs, "Run", lambda *parts, **more: Run(*parts, **more | {"keep_views": True}))
    beside = town.place("Old Museum", "museum", 20), town.place("Reading Room", "library", 20, 100)
    city = town.day_town(*beside, town.place("Green Park", "park", level=None))
    drawn = replace(city, capabilities=replace(city.capabilities, looks=looks))
    result = plan(tmp_path / "run", drawn, scenic=True)
    day, *parts = render_report(tmp_path / "run").split('class="activity group"')
    parts[-1], after = parts[-1].split("</ol>\n</section>", 1)
    assert [part.count("<img") for part in parts] == [
        int(looks or one["kind"] == "scenic") for one in activities(result)
    ]
    rated = re.search(r'<details class="card">\s*<summary>1 view.*?</details>', after, re.DOTALL)
    assert (day + after).count("<figure") == (rated[0].count("<figure") if rated else 0) == 1


def test_a_town_without_places_still_ends(tmp_path: Path) -> None:
    result = plan(tmp_path / "run", town.day_town())
    assert {one["place"] for one in activities(result)} == {""}
    assert activities(result)[-1]["ends"] == "17:00"  # the quarter of an hour left is for nothing


@pytest.mark.parametrize("value", [0, 100])
def test_extreme_feelings_stay_on_their_scale(tmp_path: Path, value: int) -> None:
    result = plan(tmp_path / "run", state=dict.fromkeys(FEELINGS, value), starts="16:00")
    assert all(0 <= level <= 100 for one in activities(result) for level in one["state"].values())
    assert result.answer["violations"] == []


@pytest.mark.slow
def test_somebody_worn_out_rests_first(tmp_path: Path) -> None:
    result = plan(tmp_path / "run", state={"energy": 5, "hunger": 20})
    assert activities(result)[0]["what"] == "Rest"


def test_an_island_is_never_planned(tmp_path: Path) -> None:
    museum = town.USUAL[0]
    city = town.day_town(*town.USUAL, islands=[museum.position])
    assert "museum" not in sorts(plan(tmp_path / "run", city))


@pytest.mark.slow
def test_drawing_the_day_asks_a_paid_city_for_no_way(tmp_path: Path) -> None:
    class Unpaid(town.DayMaps):
        def route(self, stops: Any, mode: Any = "walking") -> Route:
            raise BudgetExceeded(6.36, 6.359, 0.005, "routes_compute")

    usual = town.day_town(*town.USUAL)
    paid = replace(usual, maps=Unpaid(), ledger=Ledger())
    found = plan(tmp_path / "paid", paid)
    assert found.status == "finished"
    assert activities(found) == activities(plan(tmp_path / "usual", usual))


@pytest.mark.slow
def test_finer_types_change_nothing(tmp_path: Path) -> None:
    finer = [
        replace(one, types=normal_types((fine, *one.types), fine))
        for one in town.USUAL
        for fine in (*TYPES.fine.get(one.types[0], ()), one.types[0])[:1]
    ]
    assert any(place.types[0] != one.types[0] for place, one in zip(finer, town.USUAL, strict=True))
    usual = plan(tmp_path / "usual", town.day_town(*town.USUAL))
    assert plan(tmp_path / "finer", town.day_town(*finer)).answer == usual.answer


@pytest.mark.slow
def test_a_place_whose_id_is_gone_is_passed_over(tmp_path: Path) -> None:
    park = next(one for one in town.USUAL if one.types[0] == "park")
    listed = town.day_town(*town.USUAL)

    class Stale(town.DayPlaces):
        def details(self, place_id: str) -> Place:
            if place_id == park.id:
                raise NotFound(f"no place has the id {place_id!r}")
            return super().details(place_id)

    city = replace(listed, places=Stale(town.USUAL))
    assert "park" in sorts(plan(tmp_path / "usual", listed))
    found = sorts(plan(tmp_path / "stale", city))
    assert found
    assert "park" not in found


@pytest.mark.slow
def test_what_is_said_on_the_way_changes_the_rest_of_the_day(tmp_path: Path) -> None:
    fan = {"name": "Ana", "background": "She loves films and cinemas.", "intention": "A good day."}
    silent = plan(tmp_path / "silent", client=fan)
    user = Says(after1=Feedback("No films, please. I'm exhausted.", {"hunger": 90.0}))
    result = plan(tmp_path / "run", client=fan, user=user)
    before, after = activities(result)[:1], activities(result)[1:]
    assert before == activities(silent)[:1]
    assert "movie_theater" in sorts(silent)[1:]
    assert "movie_theater" not in {one["sort"] for one in after}
    assert after[0]["kind"] == "eat"
    (note,) = notes(tmp_path / "run", "feedback")
    assert note["data"]["state"]["hunger"] == 90.0
    assert note["data"]["state"]["energy"] < before[-1]["state"]["energy"]
    assert result.answer["wishes"] == ["No films, please. I'm exhausted."]


def test_the_user_is_told_what_was_done_and_where_the_client_stands(tmp_path: Path) -> None:
    user = Says()
    result = plan(tmp_path / "run", user=user)
    first, second = user.moments[:2]
    assert (first.done, first.since, first.minute) == (0, -1, 885)
    assert second.since == 885
    assert activities(result)[0]["what"] in second.about
    assert "dollars are left" in second.about


class Killed(BaseException):
    pass


class Fragile:
    """The rules, until so many questions are answered."""

    def __init__(self, questions: int) -> None:
        self._mind, self._left = RuleMind(), questions
        self.name, self.ledger = self._mind.name, self._mind.ledger

    def with_own_ledger(self) -> "Fragile":
        return self

    def ask(self, *args: Any, **inputs: Any) -> Any:
        if self._left == 0:
            raise Killed
        self._left -= 1
        return self._mind.ask(*args, **inputs)


class Insistent(Fragile):
    """The rules, but for one draft that it makes again and again."""

    def __init__(self, **draft: str) -> None:
        super().__init__(-1)
        self._draft = {"what": "Visit", "mode": "any", "reason": "It is nice."} | draft

    def ask(self, prompt: Any, **inputs: Any) -> Any:
        if prompt.name == "day/draft":
            return prompt.reply(**self._draft)
        return super().ask(prompt, **inputs)


def resumed(folder: Path, user: Any) -> Result:
    """Go on with a run, as `virl run --resume` does."""
    from virl.agent.agent import Agent
    from virl.agent.character_file import LoadedCharacter, find_character, recorded_character
    from virl.agent.run import Run
    from virl.journal.journal import Journal
    from virl.journal.records import StartRecord
    from virl.platform.movers.base import LinksMover
    from virl.platform.perception.models import ModelOptions, Models
    from virl.platform.perception.senses import open_senses

    journal, done = Journal.resume(folder)
    start = next(one for one in done if isinstance(one, StartRecord))
    city, source = town.day_town(*town.USUAL), find_character("diego")
    character = recorded_character(source, start.character)
    models = Models(ModelOptions(truth=None, seed=0))
    with journal:
        mind = RuleMind()
        run = Run(journal, start, done, keep_views=False, ledger=mind.ledger)
        here = city.streetview.panorama("p0")
        senses, mover = open_senses(models=models), LinksMover(city.streetview)
        loaded = LoadedCharacter(source, character)
        agent = Agent(loaded, city, here, mind, senses, models, mover, run=run, user=user)
        loaded.routine.run()(agent)
    assert run.result is not None
    return run.result


@pytest.mark.parametrize("questions", [0, 2, 3, 5])
@pytest.mark.slow
def test_a_run_that_is_cut_off_goes_on_and_asks_nothing_twice(tmp_path: Path, questions: int) -> None:
    said = Feedback("No museums.", {})
    whole = plan(tmp_path / "whole", user=Says(after1=said))
    with pytest.raises(Killed):
        plan(tmp_path / "run", user=Says(after1=said), mind=Fragile(questions))
    heard = len(notes(tmp_path / "run", "feedback"))
    again = Says(after1=said)
    result = resumed(tmp_path / "run", again)
    assert result.answer == whole.answer
    assert len(notes(tmp_path / "run", "feedback")) == 1
    assert heard == 0 or 1 not in [moment.done for moment in again.moments]
    for topic in ("draft", "estimate", "audit", "activity"):
        keys = [note["key"] for note in notes(tmp_path / "run", topic)]
        assert len(keys) == len(set(keys))


def test_the_scenic_spot_is_swept_rated_and_visited(tmp_path: Path) -> None:
    result = plan(tmp_path / "run", scenic=True)
    scenic: Any = result.answer["scenic"]
    assert scenic["spot"]["name"] == "Green Park"
    assert scenic["rating"] == 10.0
    assert "100% green" in scenic["reason"]
    assert scenic["seen"] == 4
    assert [one["place"] for one in activities(result) if one["kind"] == "scenic"] == ["Green Park"]
    assert len(notes(tmp_path / "run", "scenic")) == 1


def test_a_park_can_be_named_for_the_scenic_spot(tmp_path: Path) -> None:
    far = town.place("Far Garden", "park", 0, 205, level=None)
    result = plan(tmp_path / "run", town.day_town(*town.USUAL, far), scenic="Far Garden", starts="16:30")
    assert result.answer["scenic"]["spot"]["name"] == "Far Garden"  # type: ignore[index]


def test_files_and_report_come_with_the_plan(tmp_path: Path) -> None:
    result = plan(tmp_path / "run")
    assert result.files == ("itinerary.md", "itinerary.ics")
    page = (tmp_path / "run" / "itinerary.md").read_text()
    assert all(one["place"] in page for one in activities(result))
    end = json.loads((tmp_path / "run" / "journal.jsonl").read_text().splitlines()[-1])
    assert {one["kind"] for one in end["exhibits"]} == {"map", "text"}


def test_a_character_without_a_client_or_a_day_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="section `client:` is missing"):
        run_in_folder("diego", town.day_town(), tmp_path / "a", changes={"client": None, "start": START})
    with pytest.raises(BadInput, match="section `day:` is missing"):
        run_in_folder("diego", town.day_town(), tmp_path / "b", changes={"day": None, "start": START})


levels = st.integers(0, 100)


@settings(
    max_examples=6,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    state=st.fixed_dictionaries(dict.fromkeys(FEELINGS, levels)),
    budget=st.sampled_from([0.0, 7.0, 12.0, 40.0, 500.0]),
    starts=st.integers(0, 22 * 60),
    length=st.integers(5, 8 * 60),
    weekday=st.sampled_from(["mon", "thu", "sun"]),
    listed=st.lists(st.sampled_from(town.USUAL), unique_by=lambda one: one.id),
)
@pytest.mark.slow
def test_whatever_is_planned_passes_the_checker(
    tmp_path: Path,
    state: dict[str, int],
    budget: float,
    starts: int,
    length: int,
    weekday: str,
    listed: list[Any],
) -> None:
    ends = min(starts + length, 1440)
    day = {
        "state": state,
        "budget_usd": budget,
        "starts": f"{starts // 60}:{starts % 60:02d}",
        "ends": f"{ends // 60}:{ends % 60:02d}",
    }
    city = town.day_town(*listed)
    folder = Path(mkdtemp(dir=tmp_path))  # hypothesis gives all examples one tmp_path
    result = plan(folder, city, clock=f"{weekday} 08:00", **day)
    entries = entries_of(result.answer["activities"])  # type: ignore[arg-type]
    terms = DayTerms(Day.model_validate(day), ["mon", "thu", "sun"].index(weekday) * 3, town.CENTER)
    assert check(entries, terms, CityFacts(city)) == []


def test_a_model_that_never_mends_its_draft_is_overruled(tmp_path: Path) -> None:
    mind = Insistent(kind="normal", starts="09:00", ends="10:00", place="Nowhere Palace")
    result = plan(tmp_path / "run", mind=mind, activities=2, revisions=2)
    assert [one["fallback"] for one in activities(result)] == [True, True]
    note = notes(tmp_path / "run", "activity")[0]
    assert len(note["data"]["refused"]) == 3
    assert "no place called 'Nowhere Palace'" in note["data"]["refused"][0]["why"]


def test_an_address_can_be_visited_and_the_next_way_begins_there(tmp_path: Path) -> None:
    small = town.day_town(*town.USUAL)
    elm = town.FRAME.position(810, 0)
    city = replace(small, maps=town.DayMaps(addresses={"1 elm walk": elm}))
    mind = Insistent(kind="normal", starts="15:00", ends="15:30", place="1 elm walk")
    result = plan(tmp_path / "run", city, mind=mind, activities=1)
    way, visit = result.answer["activities"]  # type: ignore[misc]
    assert (way["starts"], way["ends"]) == ("14:50", "15:00")
    assert (visit["place"], visit["place_id"]) == ("1 elm walk", None)
    assert result.answer["violations"] == []


def test_a_draft_may_be_the_way_alone(tmp_path: Path) -> None:
    mind = Insistent(kind="transport", starts="15:00", ends="15:10", place="Old Museum", mode="walking")
    result = plan(tmp_path / "run", mind=mind, activities=1)
    (way,) = result.answer["activities"]  # type: ignore[misc]
    assert (way["kind"], way["mode"]) == ("transport", "walking")
    assert (way["starts"], way["ends"]) == ("15:00", "15:04")
    assert way["changes"]["energy"] < 0
    assert way["cost_usd"] == 0.0


def test_a_stay_somewhere_keeps_the_name_of_where_it_is(tmp_path: Path) -> None:
    plan(tmp_path / "run", state={"energy": 30, "hunger": 0})
    inputs = [note["asked"][0]["inputs"] for note in notes(tmp_path / "run", "draft")]
    assert inputs[0]["here"] == "where the day starts"
    assert inputs[-1]["here"] in {one.name for one in town.USUAL}


def test_a_mind_that_fails_ends_the_process_not_the_journal(tmp_path: Path) -> None:
    class Failing(Fragile):
        def ask(self, prompt: Any, **inputs: Any) -> Any:
            raise MindFailed("no answer")

    with pytest.raises(MindFailed):
        plan(tmp_path / "run", mind=Failing(0))
    assert (tmp_path / "run" / "journal.jsonl").exists()


@pytest.mark.slow
def test_a_place_of_unknown_hours_is_visited_where_no_other_is_open_and_named(tmp_path):
    unlisted = town.place("Unlisted", "museum", 100, open_at=(), rating=5.0)
    listed = town.place("Listed", "museum", 150, rating=3.0)
    sure = plan(tmp_path / "sure", town.day_town(unlisted, listed))
    assert [one["place"] for one in activities(sure)][:1] == ["Listed"]
    unsure = plan(tmp_path / "unsure", town.day_town(unlisted))
    assert "Unlisted" in [one["place"] for one in activities(unsure)]
    assert unsure.answer["unknown_hours"] == ["Unlisted"]
    assert unsure.answer["violations"] == []
    assert "Opening hours are not known: Unlisted." in (tmp_path / "unsure" / "itinerary.md").read_text()


@pytest.mark.slow
def test_where_no_place_can_have_a_price_it_is_said(tmp_path: Path) -> None:
    result = plan(
        tmp_path / "map", replace(town.day_town(*town.USUAL), capabilities=Capabilities(has_reviews=False))
    )
    said = "has no reviews, ratings or prices: costs are estimates."
    assert said in result.reason
    assert said in str(result.answer["not_known"])
    assert said in (tmp_path / "map" / "itinerary.md").read_text()
    assert "estimates" not in plan(tmp_path / "other").reason


@pytest.mark.slow
def test_a_day_by_bus_holds_and_unknown_transit_is_said(tmp_path: Path) -> None:
    class Buses(town.DayMaps):
        def journey(self, here, there, weekday, minute):
            ride = JourneyLeg((here, there), 500.0, 180.0, "bus 7", "A", "B", minute + 1, minute + 4)
            return Journey((JourneyLeg((here,), 60.0, 60.0), ride), 240.0)

    tired = {"state": {"energy": 5.0}, "modes": ["transit", "driving"]}
    city = replace(town.day_town(*town.USUAL), maps=Buses())
    result = plan(tmp_path / "bus", city, **tired)
    found: Any = result.answer["activities"]
    rides = [one for one in found if one["mode"] == "transit"]
    assert rides
    assert all("bus 7 from A to B" in one["reason"] and one["cost_usd"] == 3.0 for one in rides)
    assert result.answer["violations"] == []
    assert result.answer["transit_known"] is True
    without = plan(tmp_path / "without", **tired)
    assert without.answer["transit_known"] is False
    page = (tmp_path / "without" / "itinerary.md").read_text()
    assert "Public transport is not known in Smallton." in page

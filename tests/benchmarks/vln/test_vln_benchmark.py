"""VLN: routes are walked by sight, scored to their end whatever it is, and hints are given where named."""

import io
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from made_dataset import HARMFUL, place_row, write_dataset
from made_high_street import SHOPS, made_city
from rich.console import Console

from benchmarks.vln.definition import (
    BENCHMARK,
    Options,
    RoutesWorld,
    _spotter,
    episodes,
    hints_of,
    parse_walker,
    run,
)
from benchmarks.vln.score import score, score_of, show
from virl.bench.benchmark import Scores
from virl.bench.episode import Episode, EpisodeResult, Record
from virl.bench.plan import make_plan, write_plan
from virl.bench.records import open_records
from virl.bench.report.write import write_reports
from virl.bench.resources import Resources
from virl.bench.run import Engine, Part, run_benchmark
from virl.datasets.collect.dataset import RouteRow, Rows, TriedRow
from virl.datasets.collect.routes import Guide, RoutesSettings, collect_routes
from virl.errors import BadInput, MindFailed, ModelUnavailable, UnknownName
from virl.geo.globe import egocentric_word, signed_turn
from virl.mind.base import Mind
from virl.mind.rules import RuleMind
from virl.money.ledger import Ledger
from virl.platform.movers.base import LinksMover
from virl.platform.navigators.tourist.signs import SignReader
from virl.platform.navigators.tourist.spotting import eight_cameras
from virl.routines.directions.walkway import Lookout

NAME = "benchmarks.vln.definition:BENCHMARK"
PLACES = [
    place_row("Moon Bakery", "bakery", *SHOPS["Moon Bakery"], pano_id="y3", reviews=900),
    place_row("West", "bar", -20, 8, pano_id="w2"),
]


@pytest.fixture(scope="module")
def route(tmp_path_factory: pytest.TempPathFactory) -> RouteRow:
    """From `w2` east along the street, left at the crossing `x` past the bank, to the bakery at `y3`."""
    folder = tmp_path_factory.mktemp("route")
    city, streets = made_city()
    rows = Rows(folder / "r.jsonl", RouteRow)
    guide = Guide(city, LinksMover(streets), RuleMind(), Lookout(city.places, SignReader(streets, streets)))
    tried, settings = Rows(folder / "t.jsonl", TriedRow), RoutesSettings(count=1)
    collect_routes(guide, PLACES, rows, tried, settings, progress=lambda *_: None)
    (row,) = rows.all
    return row


class Scripted:
    """Says one action after another, and keeps what it was told."""

    name = "scripted"

    def __init__(self, *actions: str) -> None:
        self._actions = list(actions)
        self.told: list[dict[str, Any]] = []
        self.ledger = Ledger()

    def with_own_ledger(self) -> "Scripted":
        return self

    def ask(self, prompt, *, images=(), **inputs):
        if prompt.name == "movement/tourist-landmarks":
            return RuleMind().ask(prompt, **inputs)
        self.told.append(inputs)
        if not self._actions:
            raise MindFailed("no reply within the retries")
        action, _, direction = self._actions.pop(0).partition(" ")
        fields = {"action": action, "direction": direction or None, "sentence": 1, "reason": "as scripted"}
        return prompt.reply.model_validate(fields, context=inputs)


class MadeResources(Resources):
    """Gives a mind and the street's own reader."""

    given: Any = None
    streets: Any = None

    def mind(self, spec: str) -> Mind:
        mind: Mind = self.given
        return mind

    def reader(self, name: str) -> Any:
        return self.streets


def walk(route: RouteRow, model: str, mind: Mind | None = None, **options: Any) -> EpisodeResult:
    city, streets = made_city()
    resources = MadeResources()
    resources.given, resources.streets = mind or RuleMind(), streets
    asked = Options(cities=("made",), models=(model,), **options)
    world = RoutesWorld(asked, {"made": city}, {model: parse_walker(model)}, resources)
    payload = json.loads(json.dumps({"route": route.model_dump(mode="json")}))
    return run(Episode(route.id, "made", model, payload), world)


def record(result: EpisodeResult, case: str = "r") -> Record:
    data = json.loads(json.dumps(result.data))
    return Record(f"m/made/{case}", case, "made", "m", "done", data, tuple(result.files))


def value(scores: Scores, metric: str) -> float | None:
    tallies = scores.tallies[metric]
    return sum(one.hit for one in tallies) / sum(one.weight for one in tallies) if tallies else None


def path(result: EpisodeResult) -> list[str]:
    return [step["pano_id"] for step in result.data["walked"]]


@pytest.mark.parametrize("model", ["oracle", "oracle@paper", "ocr", "ocr@paper", "sign-reader"])
def test_by_the_map_or_by_reading_the_walk_is_the_gold_path(route: RouteRow, model: str) -> None:
    result = walk(route, model)
    assert tuple(path(result)) == route.pano_ids
    assert result.data["ending"] == "stopped"
    scores = score([record(result)], Options())
    assert {metric.key: value(scores, metric.key) for metric in BENCHMARK.metrics} == {
        metric.key: 1.0 for metric in BENCHMARK.metrics
    }
    assert scores.notes == []
    read = any(file.endswith(".jpg") for file in result.files)
    assert read == (not model.startswith("oracle"))
    shown = show(record(result))
    assert shown.outcome.startswith("arrived, stopped")
    assert {view.file for view in shown.views} <= set(result.files)
    assert len(shown.path) == len(route.pano_ids)


def test_a_success_is_scored_at_its_key_positions_as_well(route: RouteRow) -> None:
    # The published code returns as soon as it sees a success, and counts reactions of failures alone.
    begun = route.model_copy(update={"heading": 0.0, "pano_ids": ("c", *route.pano_ids[3:])})
    south = ("turn rear", "turn rear", "turn right", "forward", "forward", "forward", "turn left")
    result = walk(begun, "oracle", Scripted(*south, "forward", "forward", "stop"))
    assert path(result)[:4] == ["c", "s1", "c", "e1"]
    scores = score([record(result)], Options())
    assert value(scores, "success") == 1.0
    assert value(scores, "start_reaction") == 0.0
    assert value(scores, "start_reaction_paper") == 1.0


def test_crossings_are_told_at_key_positions_only_in_paper_mode(route: RouteRow) -> None:
    # The published code tells of a crossing only where the true route turns, to every method.
    observed = {
        mode: {step["pano_id"]: step["observed"] for step in walk(route, f"ocr{mode}").data["walked"]}
        for mode in ("", "@paper")
    }
    assert "A crossing of 4 ways" in observed[""]["c"]
    assert "crossing" not in observed["@paper"]["c"]
    assert "A crossing of" in observed[""]["x"]
    assert "A crossing of" in observed["@paper"]["x"]


def test_directions_count_crossings_only_for_one_who_is_told_of_them_all(route: RouteRow) -> None:
    assert "second" in route.instruction
    assert "second" not in route.instruction_paper
    told = {model: show(record(walk(route, model))).text for model in ("oracle", "oracle@paper")}
    assert told == {"oracle": route.instruction, "oracle@paper": route.instruction_paper}


def test_the_honest_walker_knows_nothing_of_the_true_route(route: RouteRow) -> None:
    blank = [key.model_copy(update={"lat": 0.0, "lng": 0.0, "turn": "rear"}) for key in route.key_points]
    elsewhere = route.model_copy(
        update={"key_points": tuple(blank), "place_lat": 1.0, "place_lng": 1.0, "metres": 7.0}
    )
    as_it_is, moved = walk(route, "ocr").data["walked"], walk(elsewhere, "ocr").data["walked"]
    assert as_it_is == moved
    assert hints_of(parse_walker("ocr"), route).mode == "honest"


@pytest.mark.parametrize("heading", [0.0, 90.0, 217.0])
def test_the_eight_views_are_not_turned_by_half_a_view(heading: float) -> None:
    # The published code centres them at 22.5, 67.5 ... degrees from the heading: none looks ahead.
    cameras = eight_cameras(heading)
    assert [signed_turn(heading, camera.heading) % 360 for camera in cameras] == pytest.approx(
        [45.0 * step for step in range(8)], abs=1e-6
    )
    words = [egocentric_word(heading, camera.heading) for camera in cameras]
    assert words[0] == "front"
    assert words[-1] == "front left"
    assert len(set(words)) == 8


def test_an_action_that_cannot_be_done_is_recorded_and_counted(route: RouteRow) -> None:
    # The published code passes over it in silence; the step costs eight pictures all the same.
    mind = Scripted("turn left", "turn right", "stop")
    result = walk(route, "oracle", mind)
    first = result.data["walked"][0]
    assert first["refused"] == ["'turn left' cannot be done: from here ways lead right"]
    assert first["next"] == "w1"
    scores = score([record(result)], Options())
    assert "m, made: 1 actions could not be carried out and were asked for again" in scores.notes
    assert show(record(result)).decisions[0][1].startswith("refused: 'turn left' cannot be done")


def test_a_mind_that_gives_no_action_has_not_arrived_wherever_it_stands(route: RouteRow) -> None:
    result = walk(route, "oracle", Scripted("turn right"))
    assert path(result) == ["w2", "w1"]
    assert isinstance(result.failure, MindFailed)
    assert (result.data["ending"], result.data["reason"]) == ("failed", "no reply within the retries")
    at_the_end = result.data | {"walked": [*result.data["walked"], walk(route, "oracle").data["walked"][-1]]}
    assert [score_of(data).success for data in (result.data, at_the_end)] == [0.0, 0.0]
    assert score([record(result)], Options()).notes == []
    assert show(record(result)).outcome == "not arrived, failed: no reply within the retries"


def test_a_mind_that_names_no_landmarks_stays_where_it_is(
    route: RouteRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise MindFailed("it refused")

    monkeypatch.setattr(Scripted, "ask", refuse)
    result = walk(route, "oracle", Scripted())
    assert (path(result), str(result.failure)) == ([route.start.pano_id], "it refused")


def test_who_walks_on_past_the_destination_arrived_without_success(route: RouteRow) -> None:
    data = json.loads(json.dumps(walk(route, "oracle").data))
    away = data["walked"][0]
    data["walked"] += [away]
    scored = score_of(data)
    assert (scored.success, scored.stop_arrival) == (0.0, 1.0)


def test_a_walk_that_runs_out_of_steps_is_scored_where_it_ended(route: RouteRow) -> None:
    result = walk(route, "oracle", max_steps=3)
    assert result.data["ending"] == "lost"
    assert "3 steps" in result.data["reason"]
    scores = score([record(result)], Options())
    assert value(scores, "success") == 0.0
    assert value(scores, "start_reaction") == 1.0
    assert value(scores, "intersection_arrival") == 0.0
    assert scores.notes == ["m, made: 1 of 1 walks ended lost, the others where the walker chose to stop"]


def test_a_harmful_name_is_looked_for_scored_and_shown_as_it_stands(
    route: RouteRow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The published code evaluates names of places as Python.
    monkeypatch.chdir(tmp_path)
    named = route.model_copy(
        update={
            "place_name": HARMFUL,
            "instruction": route.instruction.replace("Moon Bakery", HARMFUL),
            "instruction_paper": route.instruction_paper.replace("Moon Bakery", HARMFUL),
            "key_points": tuple(
                key.model_copy(update={"landmark": HARMFUL if key.landmark else ""})
                for key in route.key_points
            ),
        }
    )
    for model in ("oracle", "ocr@paper"):
        result = record(walk(named, model))
        assert score([result], Options()).tallies["success"]
        assert show(result).facts[0] == ("destination", HARMFUL)
    assert not (tmp_path / "harmed").exists()


def test_walkers_by_their_names() -> None:
    assert (parse_walker("ocr").mode, parse_walker("ocr@paper").mode) == ("honest", "paper")
    with pytest.raises(BadInput, match="append @paper for the paper's mode"):
        parse_walker("ocr@papers")
    city, _ = made_city()
    with pytest.raises(UnknownName, match="unknown recogniser of landmarks 'sift': choose one of: blip2"):
        _spotter("sift", city, {}, RuleMind(), Resources())
    with pytest.raises(ModelUnavailable, match="High Street has none"):
        _spotter("truth", city, {}, RuleMind(), Resources())
    assert _spotter("oracle", replace(city, name="x"), {}, RuleMind(), Resources())
    for asked in ("ocr+mind", "choice:sign-describer"):
        assert _spotter(asked, city, {}, RuleMind(), Resources())


@pytest.mark.parametrize("steps", [0, -1])
def test_a_walk_has_one_action_at_least(steps: int) -> None:
    with pytest.raises(ValueError, match="max_steps"):
        Options(max_steps=steps)


def test_the_table_fits_a_terminal_of_eighty_columns_and_the_files_have_it_all(
    route: RouteRow, tmp_path: Path
) -> None:
    write_dataset(tmp_path / "data" / "virlton", places=PLACES, routes=[route])
    options = Options(cities=("virlton",), models=("ocr@paper",), data=str(tmp_path / "data"))
    done = record(walk(route, "ocr@paper"))
    with open_records(
        tmp_path, {"benchmark": NAME, "options": options.model_dump(mode="json")}, False
    ) as kept:
        city = {"virlton": made_city()[0]}
        write_plan(tmp_path, make_plan([Episode(done.case, "virlton", "ocr@paper")], city))
        kept.append(
            {**asdict(done), "id": f"ocr@paper/virlton/{done.case}", "city": "virlton", "model": "ocr@paper"}
        )
    console = Console(width=80, record=True, quiet=False, file=io.StringIO())
    write_reports([tmp_path], console)
    table = console.export_text()
    for column in (
        "success %",
        "start %",
        "crossings",
        "right %",
        "stop %",
        "ocr@paper",
        "High Street",
        "100.0",
    ):
        assert column in table
    assert "…" not in table
    values = json.loads((tmp_path / "results.json").read_text())["rows"][0]["values"]
    assert set(values) == {metric.key for metric in BENCHMARK.metrics}
    assert "as in the paper" in (tmp_path / "report.html").read_text()


def test_a_data_set_without_routes_is_named(tmp_path: Path) -> None:
    write_dataset(tmp_path / "made", places=PLACES)
    options = Options(cities=("made",), data=str(tmp_path))
    with pytest.raises(BadInput, match=r"contains no routes: run `virl collect routes --city made --out"):
        episodes(options, Resources())


def test_every_model_is_asked_about_every_route(route: RouteRow, tmp_path: Path) -> None:
    write_dataset(tmp_path / "made", places=PLACES, routes=[route])
    options = Options(cities=("made",), models=("oracle", "ocr@paper"), data=str(tmp_path))
    assert [episode.id for episode in episodes(options, Resources())] == [
        "oracle/made/Moon Bakery",
        "ocr@paper/made/Moon Bakery",
    ]


@pytest.mark.slow
def test_from_a_data_set_to_the_results(tmp_path: Path, virlton_data: Path) -> None:
    run_benchmark(
        NAME,
        Options(models=("oracle", "truth"), data=str(virlton_data)),
        tmp_path,
        Console(quiet=True),
        engine=Engine("threads", workers=2),
        part=Part(limit=2),
    )
    rows = json.loads((tmp_path / "results.json").read_text())["rows"]
    row = next(one for one in rows if one["model"] == "oracle" and one["city"] == "virlton")
    assert row["episodes"]["failed"] == 0
    assert row["values"]["success"][0] >= 0.5
    assert "V-IRL, table 5" in (tmp_path / "report.html").read_text()

"""Runs and episodes of benchmarks are found in folders, and shown as cards and as runs."""

from pathlib import Path

import pytest
from made_benchmark import NAME, Options
from made_run import keep_made_run
from rich.console import Console
from typer.testing import CliRunner

from virl.bench.records import FOLDER, slug
from virl.bench.run import Engine, run_benchmark
from virl.cli.main import app
from virl.pages.ground import MapGround
from virl.serve.watch.feed import EpisodeFeed, RunCatalogue, RunFeed, picture_of

DATA = Path(__file__).parents[2] / "data" / "virlton-small"


def no_ground(_: str) -> MapGround:
    return MapGround()


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("bench") / "made"
    options = Options(trouble={"case 5": "bug"}, cities=("north",), models=("sharp",), text="<b>said</b>")
    run_benchmark(NAME, options, out, Console(quiet=True), engine=Engine("threads", 2))
    return out


def test_each_episode_has_a_card_and_is_told_as_a_run(bench: Path) -> None:
    catalogue = RunCatalogue([bench], no_ground)
    cards = catalogue.index()
    assert [card["title"] for card in cards] == [f"case {number}" for number in range(6)]
    assert {card["group"] for card in cards} == {"made"}
    assert [card["state"] for card in cards] == ["ended"] * 5 + ["failed"]
    assert [card["score"] for card in cards[:3]] == [0.0, 1.0, 1.0]
    assert "fault <b>in</b> the code" in cards[5]["note"]
    feed = catalogue.feeds[1]
    told = feed.read_records()
    assert [one["seq"] for one in told] == list(range(len(told)))
    assert [told[0]["kind"], told[1]["kind"], told[-1]["kind"]] == ["start", "step", "end"]
    assert told[1]["at"] == [0.0, 0.0]
    drawn = feed.map()
    assert drawn is not None
    assert len(drawn["paths"][0]["points"]) == sum(one["kind"] == "step" for one in told)
    seen = next(one for one in told if one.get("views"))
    picture = picture_of(feed, f"{seen['seq']}/0")
    assert picture is not None
    assert picture.startswith(b"\xff\xd8\xff")
    assert seen["views"][0]["width"] == 64
    assert all(0 <= edge <= 64 for edge in seen["views"][0]["boxes"][0]["box"])
    assert picture_of(feed, f"{seen['seq']}/9") is None
    assert picture_of(feed, "99/0") is None


@pytest.mark.slow
def test_a_walk_on_a_graph_is_told_action_by_action(tmp_path: Path) -> None:
    words = ["bench", "touchdown", "--data", str(DATA), "--limit", "2", "--out", str(tmp_path / "walks")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    catalogue = RunCatalogue([tmp_path], no_ground)
    assert len(catalogue.feeds) == 2
    for feed in catalogue.feeds.values():
        assert isinstance(feed, EpisodeFeed)
        steps = [one for one in feed.read_records() if one["kind"] == "step"]
        assert {step["title"] for step in steps} <= {
            "forward",
            "left",
            "right",
            "turn_around",
            "stop",
            "the end",
        }
        assert steps[-1]["title"] == "the end"
        assert steps[-2]["title"] == "stop"
        moved = [step for step in steps if step["metres"] > 0]
        assert len(moved) == sum(step["title"] == "forward" for step in steps)
        assert feed.read_records()[0]["intention"]
        assert feed.read_records()[-1]["ending"][0] in {"right", "partly right", "wrong"}


def test_the_run_of_an_agent_in_an_episode_is_shown_as_itself(bench: Path, tmp_path: Path) -> None:
    folder = tmp_path / "made"
    folder.mkdir()
    for file in ("settings.json", "plan.json", "records.jsonl"):
        (folder / file).write_bytes((bench / file).read_bytes())
    catalogue = RunCatalogue([folder], no_ground)
    record = catalogue.feeds[1]
    assert isinstance(record, EpisodeFeed)
    found = [one for one in (folder / "records.jsonl").read_text().splitlines() if '"case 1"' in one]
    identity = found[0].partition('"id": "')[2].partition('"')[0]
    keep_made_run(folder / FOLDER / slug(identity) / "run", steps=3, ended=False, size=16)
    again = RunCatalogue([folder], no_ground)
    feed = again.feeds[1]
    assert isinstance(feed, RunFeed)
    card = feed.card()
    assert (card["title"], card["score"], card["group"]) == ("case 1", 1.0, "made")
    assert len(again.feeds) == len(catalogue.feeds)


def test_runs_that_begin_later_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("virl.serve.watch.feed.LOOK_S", -1.0)
    keep_made_run(tmp_path / "b", steps=2, ended=False, size=16)
    catalogue = RunCatalogue([tmp_path], no_ground)
    (first,) = catalogue.index()
    assert (first["state"], first["score"]) == ("open", None)
    keep_made_run(tmp_path / "a", size=16)
    cards = catalogue.index()
    assert [card["run"] for card in cards] == [0, 1]
    assert [card["state"] for card in cards] == ["open", "ended"]
    assert cards[1]["note"] == "Entered Noodle Bar Mei"


def test_cards_of_runs_draw_no_ground_and_the_run_itself_does(tmp_path: Path) -> None:
    asked: list[str] = []

    def ground(city: str) -> MapGround:
        asked.append(city)
        return MapGround()

    keep_made_run(tmp_path / "run", steps=3, size=64)
    catalogue = RunCatalogue([tmp_path], ground)
    catalogue.index()
    assert not asked
    [feed] = catalogue.feeds.values()
    assert any("ground" in record for record in feed.read_records())
    assert len(asked) == 1

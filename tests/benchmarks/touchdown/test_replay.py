import json
from pathlib import Path

import pytest
import typer
from real_data import real_data
from typer.testing import CliRunner

from benchmarks.touchdown.definition import replay

NODES = "a,0,40.7,-74.0\nb,0,40.701,-74.0\nc,0,40.702,-74.0\n"
LINKS = "a,0,b\nb,180,a\nb,0,c\nc,180,b\n"
START = {"start": ["a", 180]}
RANDOM = START | {
    "actions": ["turn around", "jump", "stop"],
    "validated": ["turn_around", "stop", "stop"],
    "states": [["a", 0], ["a", 0], ["a", 0]],
}
GOLD = {"actions": ["turn_around", "forward", "stop"], "states": [["a", 180], ["a", 0], ["b", 0], ["b", 0]]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nodes.txt").write_text(NODES)
    (tmp_path / "links.txt").write_text(LINKS)
    return tmp_path


def replayed(folder: Path, *walks: object, rules: str = "velma") -> tuple[int, str]:
    """Exit code and output of a replay of these walks, or of this text."""
    text = "".join(walk if isinstance(walk, str) else json.dumps(walk) + "\n" for walk in walks)
    (folder / "walks.jsonl").write_text(text)
    return replayed_file(folder / "walks.jsonl", folder, rules)


def replayed_file(walks: Path, graph: Path, rules: str = "velma") -> tuple[int, str]:
    app = typer.Typer()
    app.command()(replay)
    result = CliRunner().invoke(app, ["--walks", str(walks), "--graph", str(graph), "--rules", rules])
    return result.exit_code, result.output


def test_walks_that_agree_are_counted(folder: Path) -> None:
    code, told = replayed(folder, RANDOM, GOLD)
    assert code == 0
    assert [line.split() for line in told.splitlines()] == [
        ["walks", "2"],
        ["states", "6", "of", "6", "agree"],
        ["validations", "3", "of", "3", "agree"],
    ]


def test_recorded_actions_without_validation_are_taken_as_they_stand(folder: Path) -> None:
    code, told = replayed(folder, GOLD)
    assert code == 0  # validated, the forward out of the dead end would be a stop
    assert "validations" not in told


def test_the_first_disagreement_of_each_walk_is_listed(folder: Path) -> None:
    wrong_state = GOLD | {"states": [["a", 180], ["a", 0], ["c", 0], ["c", 0]]}
    wrong_validation = RANDOM | {"validated": ["turn_around", "forward", "stop"]}
    code, told = replayed(folder, wrong_state, wrong_validation)
    assert code == 1
    assert "4 of 6 agree" in told
    assert "2 of 3 agree" in told
    assert told.splitlines()[3:] == [
        "walk 1, action 2 ('forward'): b at 0 degrees, recorded c at 0 degrees",
        "walk 2, action 2 ('jump'): validated as stop, recorded forward",
    ]


def test_long_lists_of_disagreements_are_cut(folder: Path) -> None:
    _, told = replayed(folder, *[GOLD | {"states": [["a", 180], ["a", 0], ["c", 0], ["b", 0]]}] * 13)
    assert told.splitlines()[-1] == "and 3 more walks"


def test_touchdowns_rules_can_be_asked_for(folder: Path) -> None:
    walk = {"actions": ["forward", "left"], "states": [["a", 0], ["b", 0], ["b", 180]]}
    assert replayed(folder, walk, rules="touchdown")[0] == 0
    assert replayed(folder, walk)[0] == 1


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("nonsense\n", "Invalid JSON"),
        ({"actions": [], "states": []}, "start: "),
        ({"actions": ["stop"], "states": [["a", 0]]}, "0 states for 1 actions"),
        (RANDOM | {"validated": ["stop"]}, "1 validated for 3 actions"),
        (RANDOM | {"validated": ["turn_around", "jump", "stop"]}, "validated.1: "),
        (RANDOM | {"start": ["a", "north"]}, "start.1: "),
        ('{"start": ["a", NaN], "actions": [], "states": []}\n', "start.1: "),
        ({"start": ["a"], "actions": [], "states": []}, "start"),
        ({"start": ["nowhere", 0], "actions": [], "states": []}, "'nowhere' is not in the graph"),
    ],
)
def test_malformed_lines_are_named(folder: Path, line: object, fault: str) -> None:
    code, told = replayed(folder, GOLD, line)
    assert code == 2
    assert f"walks.jsonl, line 2: {fault}" in told or (f"line 2: the start {fault}" in told)


def test_missing_and_empty_files_are_named(folder: Path) -> None:
    assert replayed(folder)[0] == 2
    code, told = replayed_file(folder / "none.jsonl", folder)
    assert code == 2
    assert "none.jsonl: no such file" in told


@pytest.mark.slow
@pytest.mark.parametrize("name", ["random_walks", "gold_map2seq_unseen_dev", "gold_touchdown_unseen_dev"])
def test_published_walks_agree(name: str) -> None:
    data = real_data("touchdown")
    code, told = replayed_file(data / "expected" / f"{name}.jsonl", data / "graph")
    assert code == 0, told

"""What lists print: tables for people, and JSON whose shape programs may rely on."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from made_characters import write_hiro
from pydantic import BaseModel, ConfigDict, TypeAdapter
from typer.testing import CliRunner, Result

from virl import __version__
from virl.cli.agents import WISHES
from virl.cli.main import app
from virl.platform.providers.cities import city_names
from virl.resources import names_in


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VIRL_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("VIRL_MIND", raising=False)


def virl(*arguments: str) -> Result:
    done = CliRunner().invoke(app, list(arguments), prog_name="virl")
    assert done.exit_code == 0, done.output
    return done


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class CityRow(_Row):
    name: str
    title: str
    provider: str
    keyless: bool
    needs: str
    where: str
    language: str | None
    time_zone: str | None
    center: list[float] | None


class NeedRow(_Row):
    what: str
    ready: bool
    remedy: str


class ModelRow(_Row):
    role: str
    name: str
    kind: str
    paper: str
    ready: bool
    needs: list[NeedRow]


class BenchmarkRow(_Row):
    name: str
    title: str
    about: str


class OptionRow(_Row):
    option: str
    field: str
    default: Any
    about: str


class DataRow(_Row):
    name: str
    folder: str
    state: str
    files: int
    changed: list[str]


class RunRow(_Row):
    folder: str
    agent: str
    name: str
    city: str
    mind: str
    started: str
    status: str
    outcome: str
    steps: int
    distance_m: float
    usd: float
    report: str | None


@pytest.mark.parametrize(
    ("command", "row"),
    [
        (("cities",), CityRow),
        (("models",), ModelRow),
        (("bench", "list"), BenchmarkRow),
        (("bench", "list", "counting"), OptionRow),
        (("data", "list"), DataRow),
    ],
)
def test_each_list_is_an_array_of_objects_of_one_shape(command: tuple[str, ...], row: type[_Row]) -> None:
    rows = TypeAdapter(list[row]).validate_json(virl(*command, "--json").stdout)  # type: ignore[valid-type]
    assert len(rows) > 1


@pytest.mark.slow
def test_the_gallery_lists_its_runs(tmp_path: Path) -> None:
    virl("run", str(write_hiro(tmp_path)), "--quiet", "--out", "runs/one", "--set", "limits.steps=1")
    rows = TypeAdapter(list[RunRow]).validate_json(virl("gallery", "--json").stdout)
    assert [(row.folder, row.name, row.city, row.steps) for row in rows] == [
        ("runs/one", "Hiro", "virlton", 1)
    ]
    assert (tmp_path / (rows[0].report or "")).is_file()
    assert virl("gallery").stdout == f"1 run: {Path('runs/gallery.html')}\n"


def test_cities_that_need_no_key_come_first_and_are_marked() -> None:
    rows = json.loads(virl("cities", "--json").stdout)
    assert sorted(row["name"] for row in rows) == city_names()
    needs = [row["needs"] for row in rows]
    assert needs[:6] == [""] * 6
    assert all(needs[6:])
    assert [row["keyless"] for row in rows] == sorted((row["keyless"] for row in rows), reverse=True)
    lines = {line.split()[0]: line for line in virl("cities").stdout.splitlines() if line.strip()}
    assert re.search(r"virlton +A made city on a fictional island in the Atlantic *$", lines["virlton"])
    assert re.search(r"tokyo +Shinjuku, Tokyo, Japan \(needs GOOGLE_MAPS_API_KEY\)", lines["tokyo"])
    assert "(needs a running `virl serve google`)" in lines["virlton-http"]
    assert "nowhere" not in lines["virlton-http"]


def test_options_of_a_benchmark_are_written_as_one_writes_them() -> None:
    told = virl("bench", "list", "place-localization").stdout
    assert re.search(r"--city +virlton +Names of cities", told)
    assert re.search(r"--active +off +Also look closer", told)
    assert re.search(r"--data +none +Folder", told)
    assert not re.search(r"\['|None|False", told)


def test_the_version_is_an_option() -> None:
    assert virl("--version").stdout == f"virl {__version__}\n"
    assert CliRunner().invoke(app, ["version"]).exit_code == 2


@pytest.mark.parametrize("group", [("bench",), ("collect",), ("data",), ("serve",)])
def test_a_group_without_a_command_prints_its_help(group: tuple[str, ...]) -> None:
    assert virl(*group).stdout.strip() == virl(*group, "--help").stdout.strip()


def test_virl_alone_and_the_first_page_say_which_agent_does_what() -> None:
    told = virl().stdout
    page = (Path(__file__).parents[2] / "docs" / "index.md").read_text(encoding="utf-8")
    for wish, command in WISHES:
        assert re.search(f"^{re.escape(wish)} +{command} *$", told, re.MULTILINE)
        assert re.search(rf"^\| {re.escape(wish)} \| [^|]+ \| `{command}` \|$", page, re.MULTILINE)
    listed = {command.removeprefix("virl run ") for _, command in WISHES[:-1]}
    assert listed == set(names_in("agents", ".yaml"))

"""What each agent pays in a city over HTTP: no more than its ceiling, for the same result as in process."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chaos.jobs import dealt
from real_data import real_data
from typer.testing import CliRunner
from warm_cache import warm_cache

from benchmarks.perf.priced_towns import ServedTown, served_town
from virl.cli.main import app
from virl.doctor.measured import Density
from virl.serve.city_server import ServedCity

pytestmark = pytest.mark.slow

USD = {
    "hiro": 0.35,
    "local": 0.30,
    "ling": 0.40,
    "aria": 0.50,
    "diego": 2.00,
    "peng": 0.30,
    "rx399": 0.60,
    "imani": 0.60,
    "vivek": 0.40,
    "june": 0.50,
    "mira": 0.40,
    "otto": 0.75,
    "noor": 3.20,
    "iris": 0.40,
}
"""Ceilings in dollars, at the list prices of `platform/providers/google.yaml`."""
IN_BOTH = ("hiro", "local", "ling", "aria", "diego", "peng")
"""Who stays below its ceiling in a thin town, too: they run in the dealt town, the others in Helsinki."""
DEALT = dealt(("virlton", "helsinki"))
SAME: dict[Density, tuple[str, ...]] = {"thin": ("hiro", "diego"), "dense": ("diego",)}
"""Who ends as in process, where places have coarse types; others read smaller views, know fewer places, or go
round the other way."""
UNLIKE = frozenset({"scenic", "time_zone", "transit_known"})
"""Of an answer: what pixels of JPEGs and files of cities decide."""
CLOCK = re.compile(r"\b(\d\d):(\d\d)\b")
NEAR = 2.0
"""Minutes and points of a feeling by which a day may differ: pixels of JPEGs decide at which spot of the same
park Diego looks around."""
NEAR_DEGREES = 0.001  # 56 m to the east in Helsinki, 111 m to the north


@pytest.fixture(scope="module")
def virlton(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ServedCity, ServedTown]]:
    with served_town("thin", "", tmp_path_factory.mktemp("virlton")) as opened:
        yield opened


@pytest.fixture(scope="module")
def helsinki(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ServedCity, ServedTown]]:
    extract = str(real_data("osm") / "helsinki.osm.pbf")
    with served_town("dense", extract, tmp_path_factory.mktemp("helsinki")) as opened:
        yield opened


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Run `virl` with a cache of its own."""
    monkeypatch.setenv("VIRL_CACHE", warm_cache(tmp_path / "cache"))

    def started(command: list[str], town: ServedTown) -> dict[str, Any]:
        for name, value in town.environment.items():
            monkeypatch.setenv(name, value)
        done = CliRunner().invoke(app, [*command, "--quiet"])
        assert done.exit_code == 0, done.output
        out = Path(command[command.index("--out") + 1])
        result: dict[str, Any] = json.loads((out / "result.json").read_text())
        return result

    return started


def unlike(one: object, other: object, where: str) -> list[str]:
    """Where two answers differ by more than the spot in a park explains."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return [said for key in one for said in unlike(one[key], other[key], f"{where}.{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return [said for number, pair in pairs for said in unlike(*pair, f"{where}.{number}")]
    if isinstance(one, int | float) and isinstance(other, int | float):
        near = abs(one - other) <= (NEAR_DEGREES if where.endswith((".lat", ".lng")) else NEAR)
    elif isinstance(one, str) and isinstance(other, str) and where.endswith((".starts", ".ends", ".reason")):
        words = [re.split(r"(\d+)", CLOCK.sub(minutes, text)) for text in (one, other)]
        return numbers_apart(*words, where)
    else:
        near = one == other
    return [] if near else [f"{where}: {one!r}, {other!r}"]


def minutes(clock: re.Match[str]) -> str:
    return str(60 * int(clock[1]) + int(clock[2]))


def numbers_apart(one: list[str], other: list[str], where: str) -> list[str]:
    if one[::2] != other[::2]:
        return [f"{where}: {''.join(one)!r}, {''.join(other)!r}"]
    pairs = zip(map(int, one[1::2]), map(int, other[1::2]), strict=True)
    return [said for pair in pairs for said in unlike(*pair, where)]


def check(agent: str, opened: tuple[ServedCity, ServedTown], start: Any, home: Path) -> None:
    (server, town), out = opened, home / "over-http"
    server.reset()
    result: dict[str, Any] = start(town.run(agent, out), town)
    cost = result["cost"]
    assert cost["requests"]["sent"] == server.stats()["requests"], "as the server counted"
    book = (out / "spending.jsonl").read_text().splitlines()
    paid = sum(json.loads(line)["micro_usd"] for line in book) / 1e6
    assert paid == pytest.approx(cost["usd"])
    assert 0.05 < paid <= USD[agent]
    if agent in SAME[town.density]:
        within = start(town.run(agent, home / "within", city=town.served), town)
        for name in ("status", "steps", "distance_m", "place", "reason"):
            assert result[name] == within[name], name
        for name in sorted(result["answer"].keys() - UNLIKE):
            assert unlike(result["answer"][name], within["answer"][name], name) == []


def test_days_are_alike_but_for_a_minute_or_two() -> None:
    day = {"place": "w1", "starts": "09:59", "reason": "It takes 4 minutes.", "energy": 58.0, "lat": 60.16746}
    assert unlike(day, {**day, "starts": "10:00", "reason": "It takes 5 minutes.", "energy": 57.0}, "") == []
    for name, other in {"place": "w2", "starts": "10:09", "reason": "It rains.", "lat": 60.2}.items():
        assert len(unlike(day, {**day, name: other}, "")) == 1, name
    assert unlike([day], [day, day], "") != []


@pytest.mark.parametrize("agent", USD)
def test_an_agent_stays_below_its_ceiling(
    agent: str, start: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    check(agent, request.getfixturevalue(DEALT if agent in IN_BOTH else "helsinki"), start, tmp_path)

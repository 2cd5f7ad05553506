import json
import re
from collections import Counter
from pathlib import Path
from threading import Lock
from typing import Any

import pytest
from made_r2r import ROUTES, route, write_r2r
from openai_server import Behaviour, ChatServer, Request, fault, text
from typer.testing import CliRunner, Result

from virl.cli.bench import bench_app

EPISODES = 12


def run(data: Path, out: Path, *more: str) -> Result:
    return CliRunner().invoke(bench_app, ["r2r", "--data", str(data), "--out", str(out), *more])


def results(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "results.json").read_text(encoding="utf-8"))
    return found


def means(out: Path) -> dict[str, float]:
    return {key: value[0] for key, value in results(out)["rows"][0]["values"].items()}


def counts(out: Path) -> dict[str, int]:
    found: dict[str, int] = results(out)["rows"][0]["episodes"]
    return found


def records(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "records.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_r2r(tmp_path / "r2r")


@pytest.mark.parametrize("agent", ["gold", "shortest"])
def test_who_knows_the_way_succeeds(data: Path, tmp_path: Path, agent: str) -> None:
    done = run(data, tmp_path / "out", "--agent", agent)
    assert done.exit_code == 0, done.output
    found = results(tmp_path / "out")
    assert counts(tmp_path / "out") == {"planned": EPISODES, "done": EPISODES, "failed": 0, "missing": 0}
    assert {means(tmp_path / "out")[key] for key in ("success", "oracle_success", "nDTW", "CLS")} == {1.0}
    assert found["rows"][0]["values"]["nav_error"] == [0, 0, 0]
    assert found["runs"][""]["split"] == found["rows"][0]["city"] == "val_unseen"
    assert found["versions"]["virl"]
    assert [row["values"]["success"] for row in found["published"]] == [0.34]
    assert "published" in done.output


def test_a_published_row_stands_beside_its_own_split_only(tmp_path: Path) -> None:
    data = write_r2r(tmp_path / "r2r", split="val_seen")
    run(data, tmp_path / "out", "--agent", "gold", "--split", "val_seen")
    assert results(tmp_path / "out")["published"] == []


def test_means_are_those_of_the_records(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(data, out, "--agent", "random", "--seed", "5")
    scores = [record["data"]["scores"] for record in records(out)]
    for key, (mean, low, high) in results(out)["rows"][0]["values"].items():
        assert mean == pytest.approx(sum(score[key] for score in scores) / EPISODES)
        assert low <= mean <= high
    assert {record["case"] for record in records(out)} == {f"{n}_{k}" for n in range(1, 5) for k in range(3)}


@pytest.mark.slow
def test_a_cut_run_goes_on_and_comes_to_the_same(data: Path, tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    run(data, whole, "--agent", "random")
    run(data, cut, "--agent", "random", "--limit", "7")
    assert len(records(cut)) == 7
    path = cut / "records.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    done = run(data, cut, "--agent", "random", "--resume", "--workers", "3")
    assert "line 7: was cut off" in done.output.replace("\n", "")
    assert results(cut)["rows"][0]["values"] == results(whole)["rows"][0]["values"]
    assert counts(cut) == counts(whole)
    assert {one["id"]: one["data"] for one in records(cut)} == {
        one["id"]: one["data"] for one in records(whole)
    }


def test_a_run_is_not_mixed_with_another(data: Path, tmp_path: Path) -> None:
    run(data, tmp_path / "out", "--agent", "random")
    again = run(data, tmp_path / "out", "--agent", "random")
    assert (again.exit_code, "--resume" in again.stderr) == (2, True)
    other = run(data, tmp_path / "out", "--agent", "random", "--seed", "1", "--resume")
    assert (other.exit_code, "seed: 0 there, 1 here" in other.stderr) == (2, True)


def test_bad_episodes_are_skipped_with_the_reason(tmp_path: Path) -> None:
    routes = [
        route(1, ["a0", "a1"], ["Go \N{DANCER} on.", "", "word " * 10_000, "ring \x07"]),
        route(2, ["a0", "a5"]),
        route(3, ["gone", "a1"]),
        route(4, ["a0", "a1"], scan="elsewhere"),
        {"path_id": 5, "scan": "made", "heading": "north", "path": ["a0"], "instructions": ["Stay."]},
        route(6, ["a0", "a1"], ["One more."], heading=None),
    ]
    out = tmp_path / "out"
    done = run(write_r2r(tmp_path / "r2r", routes), out, "--agent", "gold")
    assert done.exit_code == 0, done.output
    assert counts(out) == {"planned": 15, "done": 1, "failed": 14, "missing": 0}
    reasons = {record["case"]: record["reason"] for record in records(out)}
    assert reasons["1_0"] == ""
    assert "no word" in reasons["1_1"]
    assert "10,000 words" in reasons["1_2"]
    assert "U+0007" in reasons["1_3"]
    assert "no link" in reasons["2_0"]
    assert "'gone' is not in the graph" in reasons["3_0"]
    assert "the scan 'elsewhere'" in reasons["4_0"]
    assert "heading" in reasons["entry 0"]
    assert "heading" in reasons["entry 1"]
    assert "14 episodes cannot be run" in done.output


def test_missing_data_names_the_command_that_gets_it(tmp_path: Path) -> None:
    data = write_r2r(tmp_path / "r2r", split="val_seen")
    done = run(data, tmp_path / "out", "--agent", "gold")
    assert done.exit_code == 2
    assert "(found: val_seen): `virl data r2r --from DIR`" in done.stderr
    assert done.stderr.count("\n") == 1
    assert run(data, tmp_path / "out", "--agent", "gold", "--split", "val_seen").exit_code == 0


def test_the_page_escapes_what_instructions_hold(tmp_path: Path) -> None:
    said = "Walk on </script><script>alert(1)</script> & stop."
    out = tmp_path / "out"
    run(write_r2r(tmp_path / "r2r", [route(1, ["a0", "a1"], [said])]), out, "--agent", "forward")
    page = (out / "episodes.html").read_text(encoding="utf-8")
    assert "alert(1)" in page
    assert "<script>alert" not in page
    assert not re.search(r"""(?:src|href)=["']?https?:""", page)


class Guide:
    """A scripted model that knows the gold paths, and makes faults."""

    def __init__(self) -> None:
        self.gold = {str(route["path_id"]): route["path"] for route in ROUTES}
        self.mute: set[str] = set()
        """Paths on which nothing sensible is said."""
        self.asked: Counter[tuple[str, str]] = Counter()
        self._lock = Lock()

    def __call__(self, request: Request) -> Behaviour:
        said = request.messages[-1]["content"]
        said = said if isinstance(said, str) else "".join(block["text"] for block in said)
        [(path_id, way)] = set(re.findall(r"Walk (\d), told in way (\d)", said))
        here = re.findall(r"[Aa]t viewpoint ([ab]\d)", said)[-1]
        with self._lock:
            self.asked[f"{path_id}_{way}", here] += 1
            first = self.asked[f"{path_id}_{way}", here] == 1
        if path_id in self.mute:
            return fault(400, "content management policy", code="content_filter")
        if first and here == "b2":
            return text("Let me think about it.")
        if first and (here, way) == ("a4", "1"):
            return fault(429, retry_after="0")
        path = self.gold[path_id]
        if here == path[-1]:
            return text("Thought: this is it.\nFinal Answer: Finished!")
        onward = path[path.index(here) + 1]
        return text(f'Thought: on to {onward}.\nAction: action_maker\nAction Input: "{onward}"')


@pytest.mark.slow
def test_navgpt_over_http_with_faults(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guide, out = Guide(), tmp_path / "out"
    guide.mute = {"3"}
    options = ["--agent", "navgpt", "--form", "text", "--mind", "openai:test", "--workers", "4"]
    with ChatServer([guide]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-hidden")
        monkeypatch.setenv("VIRL_CACHE", str(tmp_path / "cache"))
        done = run(data, out, *options)
        assert done.exit_code == 0, done.output
        assert counts(out) == {"planned": 12, "done": 9, "failed": 3, "missing": 0}
        assert means(out)["success"] == pytest.approx(9 / 12)
        assert {failure["fault"] for failure in results(out)["failures"]} == {"MindFailed"}
        assert (
            results(out)["rows"][0]["cost"]["requests"]
            >= sum(len(path) for path in guide.gold.values()) * 3 - 12
        )
        refused = [
            told["refused"]
            for record in records(out)
            for told in record["data"].get("decisions", ())
            if told.get("refused")
        ]
        assert len(refused) == 6  # b2 lies on two paths, told in three ways each
        asked = len(server.requests)
        guide.mute = set()
        done = run(data, out, *options, "--resume")
        assert done.exit_code == 0, done.output
        assert means(out)["success"] == 1
        fresh = {
            (episode, here): times for (episode, here), times in guide.asked.items() if episode[0] == "3"
        }
        assert len(server.requests) - asked == sum(fresh.values()) - 3  # only what failed is asked again
    written = "".join(path.read_text(encoding="utf-8") for path in out.iterdir() if path.is_file())
    assert "sk-hidden" not in written
    assert "on to b3" in (out / "episodes.html").read_text(encoding="utf-8")

"""Runs on a real Ray cluster of two nodes: what the local engine finds, though workers die."""

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chaos.jobs import dealt
from made_benchmark import NAME, Blind, Options
from made_dataset import RouteRow, panorama_row, place_row, question_row, write_dataset
from real_data import real_data
from rich.console import Console

from virl.bench.benchmark import benchmark_names, find_benchmark
from virl.bench.resources import Terms
from virl.bench.run import Engine, Part, Unpaid, run_benchmark
from virl.errors import BadInput
from virl.platform.city.city import City

ray = pytest.importorskip("ray", reason="needs Ray: make test-ray")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings(
        "ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::FutureWarning"
    ),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

TESTS = Path(__file__).parent.parent
QUIET = Console(quiet=True)
STORE_BYTES = 80_000_000


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(TESTS)
    os.environ["OMP_NUM_THREADS"] = "1"
    made = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 2, "object_store_memory": STORE_BYTES, "include_dashboard": False},
    )
    made.add_node(num_cpus=2, object_store_memory=STORE_BYTES)
    yield made
    made.shutdown()
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


def run(out: Path, options: Options, engine: Engine) -> Any:
    run_benchmark(NAME, options, out, QUIET, engine=engine)
    found = json.loads((out / "results.json").read_text())
    for row in found["rows"]:
        del row["seconds"]
    del found["runs"]
    return found


def records(out: Path) -> dict[str, dict[str, Any]]:
    lines = [json.loads(line) for line in (out / "records.jsonl").read_text().splitlines()]
    assert set(Counter(line["id"] for line in lines).values()) == {1}, "nothing twice"
    return {line["id"]: {"data": line["data"], "status": line["status"]} for line in lines}


def test_a_cluster_finds_what_threads_find_though_workers_die(cluster: Any, tmp_path: Path) -> None:
    trouble = {"case 1": "never", "case 2": "bug"}
    locally = run(
        tmp_path / "local",
        Options(trouble=trouble, matcher="sift", models=("sharp",)),
        Engine("threads", 2, first_wait_s=0.01),
    )
    options = Options(
        trouble=trouble | {"case 3": "once", "case 4": "die once"},
        folder=str(tmp_path),
        matcher="sift",
        models=("sharp",),
    )
    far = run(tmp_path / "ray", options, Engine("ray", 4, cluster.address, first_wait_s=0.01))
    assert far == locally
    assert records(tmp_path / "ray") == records(tmp_path / "local")
    assert all(one["data"]["matches"] > 0 for one in records(tmp_path / "ray").values() if one["data"])
    pictures = [
        sorted(path.name for path in (tmp_path / name / "episodes").iterdir()) for name in ("ray", "local")
    ]
    assert pictures[0] == pictures[1]


def test_an_episode_that_kills_its_worker_each_time_fails_alone(cluster: Any, tmp_path: Path) -> None:
    options = Options(cities=("north",), models=("sharp",), count=3, trouble={"case 1": "die"})
    found = run(tmp_path / "out", options, Engine("ray", None, cluster.address, attempts=2))
    assert [(one["id"], one["fault"], one["attempts"]) for one in found["failures"]] == [
        ("sharp/north/case 1", "WorkerLost", 2)
    ]
    assert found["rows"][0]["episodes"]["done"] == 2


def test_what_cannot_be_opened_ends_the_run_with_a_line(cluster: Any, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="unknown matcher 'no-such'"):
        run(tmp_path / "out", Options(matcher="no-such"), Engine("ray", 2, cluster.address))


def test_a_spent_budget_ends_the_run_in_good_order(cluster: Any, tmp_path: Path) -> None:
    options = Options(cities=("north",), models=("sharp",), trouble={"case 5": "unpaid"})
    engine = Engine("ray", 1, cluster.address, terms=Terms(budget_usd=1.0))
    with pytest.raises(Unpaid):
        run_benchmark(NAME, options, tmp_path / "out", QUIET, engine=engine)
    assert len(records(tmp_path / "out")) == 5


def test_a_node_that_is_lost_takes_no_episode_with_it(cluster: Any, tmp_path: Path) -> None:
    node = cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES)
    out = tmp_path / "out"

    def pull_the_plug() -> None:
        path = out / "records.jsonl"
        limit = time.monotonic() + 120
        while time.monotonic() < limit and not (path.exists() and len(path.read_bytes().splitlines()) >= 6):
            time.sleep(0.1)
        cluster.remove_node(node, allow_graceful=False)

    plug = threading.Thread(target=pull_the_plug)
    plug.start()
    options = Options(count=8, seconds=0.4)
    far = run(out, options, Engine("ray", None, cluster.address))
    plug.join()
    assert far["failures"] == []
    assert [row["episodes"]["done"] for row in far["rows"] if not row["city"]] == [16, 16]
    assert len(records(out)) == 32


SMALL: dict[str, dict[str, Any]] = {
    "agents": {"agent": ("aria",)},
    "counting": {"routes": 1, "regions": 0, "detector": ("blind",), "pose_noise": "0,0"},
    "exploration": {"policy": ("oracle",), "starts": 1},
    "place-localization": {"size": 320},
    "place-recognition": {},
    "place-vqa": {},
    "preview": {"count": 1, "detector": ("blind",), "reader": "blind"},
    "r2r": {"agent": "shortest"},
    "sight": {"models": ("oracle",), "count": 1, "kinds": ("name",), "split": "train"},
    "sight-learning": {"models": ("blind",), "count": 1, "pixels": 16},
    "touchdown": {"agent": "forward"},
    "vln": {"models": ("oracle",), "max_steps": 3},
}
"""Options under which each benchmark has little to do."""


@pytest.fixture(scope="module")
def data(virlton: City, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of one panorama, place, question and route in the middle of Virlton."""
    home = tmp_path_factory.mktemp("data")
    here = virlton.streetview.nearest(virlton.center, 1000)
    assert here is not None
    place = place_row("p", "bar", 0, pano_id=here.id, image=True)
    route = {
        "id": "r",
        "place_id": "p",
        "place_name": "P",
        "place_lat": place.lat,
        "place_lng": place.lng,
        "heading": here.links[0].heading,
        "pano_ids": (here.id, here.links[0].pano_id),
        "metres": here.links[0].distance,
        **dict.fromkeys(("instruction", "instruction_paper"), "Go straight."),
        "key_points": (),
    }
    write_dataset(
        home / "virlton",
        panoramas=[panorama_row(here.id, 0)],
        places=[place],
        questions=[question_row(place)],
        routes=[RouteRow.model_validate(route)],
    )
    return home


def test_all_benchmarks_have_small_options() -> None:
    assert list(SMALL) == benchmark_names()


@pytest.mark.parametrize("part", range(4))
def test_a_benchmark_that_is_dealt_runs_on_two_nodes(
    cluster: Any, data: Path, part: int, tmp_path: Path
) -> None:
    name = dealt(benchmark_names()[part::4])
    options, given = find_benchmark(name).options, SMALL[name]
    if name.startswith(("place", "vln", "r2r")):
        given = given | {"data": str(real_data(name) if name == "r2r" else data)}
    run_benchmark(
        name,
        options.model_validate(given),
        tmp_path / "out",
        QUIET,
        engine=Engine("ray", 1, cluster.address),
        part=Part(limit=1),
        objects={"blind": Blind()},
    )
    assert [one["status"] for one in records(tmp_path / "out").values()] == ["done"]


def test_a_node_without_virl_is_named_at_once(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "virl.py").write_text("raise ModuleNotFoundError(\"No module named 'virl'\")")
    monkeypatch.chdir(tmp_path)  # where workers look for modules first
    with pytest.raises(BadInput, match="a node of the cluster has no module 'virl': install"):
        run(tmp_path / "out", Options(), Engine("ray", 1, cluster.address))


def test_a_token_that_is_missing_is_named(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "virl",
        "bench",
        NAME,
        "--engine=ray",
        "--address=127.0.0.1:1",
        "--out=run",
    ]
    here = {name: value for name, value in os.environ.items() if name != "RAY_AUTH_TOKEN"}
    here |= {"PYTHONPATH": str(TESTS), "RAY_AUTH_MODE": "token", "HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=here, cwd=tmp_path)
    [line] = [line for line in done.stderr.splitlines() if "Ray" in line]
    assert "no authentication token was found" in line
    assert line.endswith("set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN")
    assert done.returncode == 2


SCRIPT = """
import virl
from virl.perception import LookScores

class Mine:
    look_scores = LookScores(0.5, 0.5)

    def detect(self, views, labels):
        return [[] for view in views if view.pixels.any()]

print("begins")
options = {"models": [Mine()], "data": DATA, "size": 320}
done = virl.run_benchmark("place-localization", options, engine="ray", workers=1, out="run")
print(done.results.rows[0].episodes.done)
"""


def test_a_script_without_a_guard_runs_once_and_sends_its_objects(
    cluster: Any, data: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(SCRIPT.replace("DATA", repr(str(data))))
    here = os.environ | {"RAY_ADDRESS": cluster.address}
    done = subprocess.run(
        [sys.executable, "mine.py"], capture_output=True, text=True, check=False, env=here, cwd=tmp_path
    )
    assert done.stdout.splitlines() == ["begins", "1"], done.stderr

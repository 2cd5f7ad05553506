"""Runs on a real Ray cluster of two nodes: what the local engine finds, though workers die."""

import json
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from made_benchmark import NAME, Options
from rich.console import Console

from virl.bench.resources import Terms
from virl.bench.run import Engine, Unpaid, run_benchmark
from virl.errors import BadInput

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
    made.add_node(num_cpus=1, object_store_memory=STORE_BYTES)
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

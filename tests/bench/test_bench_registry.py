"""Where virl's own benchmarks are found."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from virl.bench.benchmark import BENCHMARKS, benchmark_names, find_benchmark

ROOT = Path(__file__).parents[2]


def test_every_folder_with_a_definition_is_a_benchmark_of_its_name() -> None:
    folders = {path.parent.name.replace("_", "-") for path in ROOT.glob("benchmarks/*/definition.py")}
    assert folders <= set(benchmark_names())
    assert "touchdown" in folders
    for name in folders:
        found = find_benchmark(name)
        assert found.name == name
        assert [metric.key for metric in found.metrics if not metric.about] == [], "each column is explained"
        assert BENCHMARKS.module(name) == f"benchmarks.{name.replace('-', '_')}.definition"


@pytest.mark.slow
@pytest.mark.parametrize("shadow", ["benchmarks.py", "benchmarks/__init__.py"])
def test_a_package_of_the_users_with_the_same_name_stands_in_no_ones_way(tmp_path: Path, shadow: str) -> None:
    path = tmp_path / shadow
    path.parent.mkdir(exist_ok=True)
    path.write_text("MINE = True\n")
    code = (
        "import benchmarks\n"
        "from virl.bench.benchmark import benchmark_names, find_benchmark\n"
        "assert benchmarks.MINE\n"
        "print(*benchmark_names())\n"
        "print(find_benchmark('r2r').episodes.__module__)\n"
        "assert benchmarks.MINE\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    names, module = done.stdout.splitlines()
    assert {"vln", "touchdown", "r2r"} <= set(names.split())
    assert module == "virl.bundled.benchmarks.r2r.definition"


def test_each_runs_as_a_module_too() -> None:
    for path in ROOT.glob("benchmarks/*/definition.py"):
        name = path.parent.name.replace("_", "-")
        assert path.with_name("__main__.py").read_text().endswith(f'\nrun_module("{name}")\n'), path

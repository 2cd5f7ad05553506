"""A plain `pip install .` has no package of an extra: commands do without, or name the extra."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BLOCKING = """
import importlib.util, sys
LACKING = {"fastapi", "folium", "geopandas", "googlemaps", "gymnasium", "inspect_ai", "mcp", "opening_hours",
           "opentelemetry", "osmium", "pandas", "pyarrow", "selenium", "starlette", "tzfpy", "uvicorn"}
find = importlib.util.find_spec

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in LACKING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
importlib.util.find_spec = lambda name, *rest: None if name.split(".")[0] in LACKING else find(name, *rest)
"""
OSM = "pip install 'virl[osm]'"


@pytest.mark.parametrize(
    ("command", "refusal"),
    [
        (("-m", "virl", "cities"), ""),
        (("-m", "virl", "check", "hiro"), ""),
        (("-c", "import virl.doctor.report, virl.doctor.examination"), ""),
        (("-m", "virl", "run", "hiro", "--city", "strasbourg", "--dry-run"), OSM),
    ],
)
def test_a_command_needs_no_extra_or_names_it(command: tuple[str, ...], refusal: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(BLOCKING, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, *command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode != 0) == bool(refusal), done.stderr
    if refusal:
        assert refusal in done.stderr
        assert done.stderr.count("\n") == 1

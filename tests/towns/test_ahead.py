"""The kernels that a second process compiles while the first opens its city."""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from virl.towns.render import ahead

DRAWN = """
import json
from made_corner import bare_plan
from virl.towns.render import ahead, backdrop, kerbs, raster, rasters, shade, smooth
from virl.towns.render.lens import aim_lens
from virl.towns.render.renderer import CityRenderer

begun = ahead.compile_ahead()
CityRenderer(bare_plan()).render_labelled(aim_lens(0.0, 0.0, 30.0, 0.0, 90.0, (64, 48)))
kernels = [
    backdrop.shade_backdrop, smooth.smooth_edges, kerbs._measure, rasters._write_materials,
    rasters._mark_uniform, shade.shade_quads, raster.draw,
]
print(json.dumps([begun._process is not None, [bool(one.stats.cache_hits) for one in kernels]]))
"""


def drawn(cache: Path) -> list[object]:
    """Whether a second process began, and which kernels came from the disk, where `cache` is the cache."""
    env = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(Path(__file__).parents[1])}
    ran = subprocess.run([sys.executable, "-c", DRAWN], env=env, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found: list[object] = json.loads(ran.stdout)
    return found


@pytest.mark.slow
def test_a_first_drawing_reads_five_kernels_that_a_second_process_compiled(tmp_path: Path) -> None:
    if (os.cpu_count() or 1) < 2:
        pytest.skip("one core")
    assert drawn(tmp_path) == [True, [True] * 5 + [False] * 2]
    assert drawn(tmp_path) == [False, [True] * 7]


def test_threads_that_begin_together_start_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[object] = []

    def start(*_: object, **__: object) -> None:
        time.sleep(0.05)
        begun.append(1)

    monkeypatch.setattr(ahead.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(ahead, "is_kept", lambda: False)
    monkeypatch.setattr(ahead.subprocess, "Popen", start)
    ahead._start.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        handles = list(pool.map(lambda _: ahead.compile_ahead(), range(8)))
    ahead._start.cache_clear()
    assert len(begun) == 1
    assert len({id(one) for one in handles}) == 1


@pytest.mark.slow
def test_a_second_process_that_fails_or_hangs_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = subprocess.Popen([sys.executable, "-c", "raise SystemExit(1)"])
    ahead.Ahead(failed).wait()
    assert failed.returncode == 1
    monkeypatch.setattr(ahead, "LONGEST_S", 0.05)
    endless = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    ahead.Ahead(endless).wait()
    assert endless.poll() is None
    endless.kill()
    endless.wait()

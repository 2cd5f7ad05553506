import sys

import numpy as np
import pytest

from benchmarks.perf.walk import BLOCK, made_grid, main


def test_the_made_grid_has_streets_and_crossings() -> None:
    graph = made_grid(3)
    assert len(graph) == (2 * BLOCK + 1) * 3 * 2 - 9
    assert np.bincount(graph.degree).tolist() == [0, 0, 4 + 12 * (BLOCK - 1), 4, 1]
    assert set(np.round(graph.heading) % 360) == {0, 90, 180, 270}


@pytest.mark.slow
def test_rates_are_printed_with_their_ratio_to_the_plain_rules(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: object
) -> None:
    monkeypatch.setenv("VIRL_DATA", str(tmp_path))
    monkeypatch.setattr("benchmarks.perf.walk.GRID", 4)
    monkeypatch.setattr(sys, "argv", ["walk", "--walkers", "64", "--seconds", "0.01"])
    main()
    told = capsys.readouterr().out
    assert "made grid" in told
    for label in ("plain rules", "one walker", "batch of 64"):
        assert label in told
    assert told.count("times the plain rules") == 2

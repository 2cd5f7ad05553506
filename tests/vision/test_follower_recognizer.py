"""The follower compares panoramas with the landmark of its stop by a recognizer, a tiny random checkpoint."""

import pytest

pytest.importorskip("torch", reason="needs the extra vision")
pytest.importorskip("transformers", reason="needs the extra vision")

from rich.console import Console
from test_huggingface_recognizer import make, tokenizer

from benchmarks.touchdown.options import Options
from virl.bench.report.runs import gather
from virl.bench.run import run_benchmark
from virl.datasets.export.touchdown import export_touchdown
from virl.platform.navigators.tourist import spotters


def test_what_a_recognizer_sees_decides_where_a_walk_ends(tmp_path, monkeypatch):
    for part in (*make("clip"), tokenizer("clip")):
        part.save_pretrained(tmp_path / "clip")
    file = tmp_path / "clip.yaml"
    file.write_text(f"kind: huggingface-clip\nweights: {tmp_path / 'clip'}\nbatch: 8\n")
    data = export_touchdown("virlton", tmp_path / "export", episodes=4, seed=1)
    asked = []
    recognize = spotters.RecognizerSpotter.spot

    def spot(self, pose, names, *, thorough):
        asked.append((pose.pano_id, names))
        return recognize(self, pose, names, thorough=thorough)

    monkeypatch.setattr(spotters.RecognizerSpotter, "spot", spot)
    options = Options(agent="follower", map=True, data=data, recognizer=str(file))
    run_benchmark("touchdown", options, tmp_path / "run", Console(quiet=True))
    records = [record for run in gather([tmp_path / "run"]).runs for record in run.records]
    assert [(record.status, record.reason) for record in records] == [("done", "")] * 4
    assert len({pano_id for pano_id, _ in asked}) > 10
    assert all(names for _, names in asked)

"""`virl models --check` with tiny checkpoints of a detector, a recognizer and a describer."""

import pytest

for package in ("torch", "transformers"):
    pytest.importorskip(package, reason=f"needs {package}: make test-vision")

from test_huggingface_recognizer import make, tokenizer  # noqa: E402

from virl.doctor.labelled_views import write_labelled  # noqa: E402
from virl.doctor.model_quality import measure_here  # noqa: E402
from virl.platform.providers import open_city  # noqa: E402


@pytest.fixture(scope="module")
def views(tmp_path_factory):
    folder = tmp_path_factory.mktemp("views")
    write_labelled(open_city("virlton"), "virlton", folder, 4)
    return folder


def test_a_detector_is_scored_at_the_thresholds_of_its_file(views, owlv2, tmp_path):
    def measured(first, second):
        file = tmp_path / "owl.yaml"
        file.write_text(
            f"kind: owlv2\nweights: {owlv2}\nprompt: a {{label}}\nmin_score: 0.0\nfirst_look: {first}\n"
            f"second_look: {second}\nmax_overlap: 0.5\nbatch: 2\n"
        )
        return measure_here("detector", str(file), views, "cpu", False)

    all_boxes = measured(0.0, 1.0)
    assert not all_boxes.fault
    assert all_boxes.device == "cpu"
    assert all_boxes.images_per_s > 0
    assert all_boxes.gpu_mb is None
    assert all_boxes.first.found > all_boxes.second.found
    half = measured(0.5, 0.5)
    assert all_boxes.first.found > half.first.found >= all_boxes.second.found
    assert half.first.at == half.second.at == 0.5


def test_a_recognizer_is_scored_on_the_views_of_places(views, tmp_path):
    for part in (*make("clip"), tokenizer("clip")):
        part.save_pretrained(tmp_path / "clip")
    file = tmp_path / "clip.yaml"
    file.write_text(f"kind: huggingface-clip\nweights: {tmp_path / 'clip'}\nbatch: 2\n")
    done = measure_here("recognizer", str(file), views, "cpu", False)
    assert not done.fault
    assert done.first.there == 2
    assert done.first.at is None
    assert done.second is None


def test_a_checkpoint_of_another_kind_is_told_in_the_table(views, owlvit, tmp_path):
    file = tmp_path / "owl.yaml"
    file.write_text(
        f"kind: owlv2\nweights: {owlvit}\nprompt: a {{label}}\nmin_score: 0.0\nfirst_look: 0.1\n"
        "second_look: 0.2\nmax_overlap: 0.5\nbatch: 2\n"
    )
    assert "of type owlvit" in measure_here("detector", str(file), views, "cpu", False).fault

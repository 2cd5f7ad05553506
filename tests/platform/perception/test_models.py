import re
from pathlib import Path

import pytest

import virl
from virl.errors import BadInput, UnknownName
from virl.platform.perception.detectors.clip_proposals import ClipProposals
from virl.platform.perception.detectors.sign_detector import SignDetector
from virl.platform.perception.models import (
    ModelOptions,
    Models,
    ModelSettings,
    look_scores,
    model_file,
    model_names,
    read_model,
)

PROPOSALS = """
kind: clip-proposals
proposals: {proposals}
proposal_labels: []
min_proposal: 0.4
recognizer: clip-vit-l-14-336
background: []
margin: 0.1
min_score: 0.8
first_look: 0.8
second_look: 0.8
max_overlap: null
"""


def test_a_model_is_opened_once_and_shared():
    models = Models()
    assert models.detector("sign-detector") is models.detector("sign-detector")
    assert models.describer("sign-describer")._detector.model is models.detector("sign-detector")
    assert models.detector("sign-detector")._reader is models.reader("rapidocr")
    assert Models().reader("rapidocr") is not models.reader("rapidocr")


def test_names_are_listed_by_role():
    assert {"clip-proposals", "grounding-dino", "owlv2", "owlvit", "sign-detector"} <= set(
        model_names("detector")
    )
    assert "rapidocr" in model_names("reader")
    assert not {"prices", "follower", "rule-lexicon"} & {
        name for role in ("detector", "reader", "lexicon", "describer") for name in model_names(role)
    }


def test_a_model_of_the_users_own_is_opened_by_its_path(tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text(PROPOSALS.format(proposals="sign-detector"))
    detector = Models().detector(str(mine))
    assert isinstance(detector, ClipProposals)
    assert isinstance(detector._proposals, SignDetector)


def test_a_model_that_uses_itself_is_refused(tmp_path):
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    one.write_text(PROPOSALS.format(proposals=two))
    two.write_text(PROPOSALS.format(proposals=one))
    models = Models()
    for _ in range(2):
        with pytest.raises(BadInput, match=r"uses itself \(.*one\.yaml -> .*two\.yaml -> .*one\.yaml\)"):
            models.detector(str(one))
    assert models.detector("sign-detector")


@pytest.mark.parametrize("name", ["glip", "rapidocr", "prices", "../models/sign-detector", "", "."])
def test_a_name_of_no_detector_lists_the_detectors(name):
    with pytest.raises(
        UnknownName, match=r"unknown detector .*choose one of: .*grounding-dino.*sign-detector"
    ):
        Models().detector(name)


def test_files_that_are_no_model_files_are_refused(tmp_path):
    with pytest.raises(BadInput, match=r"nothing\.yaml: no such file"):
        Models().detector(str(tmp_path / "nothing.yaml"))
    odd = tmp_path / "odd.yaml"
    odd.write_text("kind: magic\n")
    with pytest.raises(UnknownName, match="unknown kind of model 'magic'"):
        read_model("detector", str(odd))
    odd.write_text("colour: red\n")
    with pytest.raises(UnknownName, match="unknown detector"):
        read_model("detector", str(odd))
    odd.write_text(PROPOSALS.format(proposals="sign-detector") + "marginn: 2\n")
    with pytest.raises(BadInput, match=r"odd\.yaml, line 13: marginn: unknown field"):
        read_model("detector", str(odd))


def test_options_reach_the_models():
    options = ModelOptions(device="cpu", seed=3)
    assert Models(options).options is options
    assert Models().options == ModelOptions(device="auto", allow_downloads=False, truth=None, seed=0)


@pytest.mark.parametrize("name", model_names("detector"))
def test_each_detectors_file_states_its_thresholds(name):
    """V-IRL has 0.55 and 0.65 for its own detector; the scores of others are on other scales."""
    settings = read_model("detector", name)
    assert settings.look_scores.first <= settings.look_scores.second
    assert settings.look_scores.first >= getattr(settings, "min_score", 0.0)
    text = model_file(name).read_text()
    assert "first_look:" in text
    assert "second_look:" in text


BY_LABEL = "by_label:\n  trash bin: {first_look: 0.5, second_look: 0.6}\n  Fire_hydrant: "


def test_a_detectors_file_may_state_thresholds_of_single_labels(tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text(model_file("simulated").read_text() + BY_LABEL + "{first_look: 0.7, second_look: 0.8}\n")
    scores = look_scores(str(mine))
    found = {label: (scores.of(label).first, scores.of(label).second) for label in LABELS}
    assert found == dict(zip(LABELS, [(0.7, 0.8), (0.7, 0.8), (0.5, 0.6), (0.55, 0.65)], strict=True))


LABELS = ("fire hydrant", "fire_hydrant", "trash bin", "bench")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("{first_look: 0.7, second_look: 0.6}", ": second_look should be 0.7, as first_look, or more"),
        ("{first_look: 0.7, second_look: 1.2}", r"\.second_look: must be at least 0 and at most 1, not 1\.2"),
        ("{first_look: 0.7}", r"\.second_look: field is missing"),
        ("{first: 0.7, second_look: 0.8}", r"\.first: unknown field"),
        ("0.7", r": must be \{first_look: ..., second_look: ...\}, not 0.7"),
    ],
)
def test_a_fault_of_a_labels_thresholds_is_told_with_file_line_and_field(tmp_path, row, said):
    mine = tmp_path / "mine.yaml"
    before = model_file("simulated").read_text()
    mine.write_text(before + BY_LABEL + row + "\n")
    line = len(before.splitlines()) + 3
    with pytest.raises(BadInput, match=rf"mine\.yaml, line {line}: by_label\.Fire_hydrant{said}"):
        Models().detector(str(mine))


@pytest.mark.parametrize(
    ("label", "said"),
    [("fire hydrant", "has 'fire hydrant' twice: write one"), ("'_'", "has a label without words")],
)
def test_a_label_with_thresholds_is_named_once_and_in_words(tmp_path, label, said):
    mine = tmp_path / "mine.yaml"
    row = "{first_look: 0.7, second_look: 0.8}\n"
    mine.write_text(f"{model_file('simulated').read_text()}{BY_LABEL}{row}  {label}: {row}")
    with pytest.raises(BadInput, match=rf"mine\.yaml, line \d+: by_label: {said}"):
        read_model("detector", str(mine))


def test_no_routine_and_no_look_has_a_threshold_of_its_own():
    own = re.compile(r"SCORE\w* *= *[\d.]|score *[<>]=? *[\d.]")
    home = Path(virl.__file__).parent
    files = [*home.glob("routines/**/*.py"), *home.glob("platform/perception/*.py")]
    assert len(files) > 50
    assert not [file for file in files if own.search(file.read_text())]


def test_a_kind_of_detector_that_states_no_thresholds_is_refused(monkeypatch):
    monkeypatch.setattr("virl.platform.perception.models.read_model", lambda *_: ModelSettings(kind="plain"))
    with pytest.raises(BadInput, match="'odd' states no first_look and second_look"):
        look_scores("odd")

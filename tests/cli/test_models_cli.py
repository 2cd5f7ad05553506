import json
import sys

import pytest
import typer
from made_package import install
from typer.testing import CliRunner

from virl.cli.models import list_models
from virl.platform.perception import standing as standing_module
from virl.platform.perception.models import model_file
from virl.platform.perception.standing import model_readiness

app = typer.Typer()
app.command("models")(list_models)


@pytest.fixture(autouse=True)
def _nothing_downloaded(monkeypatch, tmp_path):
    monkeypatch.setenv("VIRL_DATA", str(tmp_path / "data"))


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def listed():
    result = run("--json")
    assert result.exit_code == 0
    return {one["name"]: one for one in json.loads(result.stdout)}


@pytest.fixture
def without(monkeypatch):
    """Make packages look as if they were not installed."""

    def hide(*packages):
        find = standing_module.missing_packages

        def missing(names):
            return [name for name in names if name in packages or find([name])]

        monkeypatch.setattr(standing_module, "missing_packages", missing)

    return hide


def test_what_works_without_downloads_is_ready(without):
    without("torch")
    models = listed()
    for name in ("sign-detector", "sign-describer", "sign-lexicon", "rapidocr", "sift"):
        assert models[name]["ready"], models[name]
    assert models["rapidocr"]["role"] == "reader"
    assert models["sign-detector"]["needs"] == [
        {"what": "reader rapidocr", "ready": True, "remedy": ""},
        {"what": "lexicon sign-lexicon", "ready": True, "remedy": ""},
    ]


def test_a_broken_plug_in_is_named_and_hides_no_model(monkeypatch, tmp_path):
    before = listed()
    install(monkeypatch, tmp_path / "site", "half-baked", {"virl.models": ["odd = no_such_module:KIND"]}, {})
    result = run("--json")
    assert result.exit_code == 0
    assert {one["name"] for one in json.loads(result.stdout)} == before.keys()
    (line,) = result.stderr.splitlines()
    assert line.startswith("kind of model 'odd' of half-baked cannot be imported (ModuleNotFoundError: ")


def test_what_is_missing_comes_with_its_remedy(without, tmp_path):
    without("torch", "groundingdino")
    models = listed()
    packages, weights = models["owlv2"]["needs"]
    assert not models["owlv2"]["ready"]
    assert packages["remedy"].startswith("torch")
    assert packages["remedy"].endswith("not installed: pip install 'virl[vision]'")
    assert str(tmp_path / "data" / "models" / "google") in weights["remedy"]
    assert "pip install 'virl[groundingdino]'" in models["grounding-dino-py"]["needs"][0]["remedy"]


def test_a_model_is_not_ready_if_one_that_it_uses_is_not(without):
    without("rapidocr")
    models = listed()
    for name, lacking in (("rapidocr", 0), ("sign-detector", 0), ("sign-describer", 0)):
        assert not models[name]["ready"]
        assert "rapidocr not installed: pip install" in models[name]["needs"][lacking]["remedy"]
    assert models["sign-lexicon"]["ready"]


def test_weights_that_are_there_are_found(tmp_path):
    before = model_readiness("detector", "owlv2").needs[-1]
    (tmp_path / "data" / "models" / "google" / "owlv2-base-patch16-ensemble").mkdir(parents=True)
    after = model_readiness("detector", "owlv2").needs[-1]
    assert before.lacks
    assert after.what == before.what == "weights google/owlv2-base-patch16-ensemble"
    assert not after.lacks


def test_a_file_that_is_wrong_or_uses_itself_is_listed_with_its_fault(tmp_path):
    odd = tmp_path / "odd.yaml"
    odd.write_text("kind: owlv2\nbatch: none\n")
    assert "odd.yaml: 7 faults: line" in model_readiness("detector", str(odd)).needs[0].lacks
    odd.write_text(
        f"kind: clip-proposals\nproposals: {odd}\nproposal_labels: []\nmin_proposal: 0\nrecognizer: siglip\n"
        "background: []\nmargin: 0\nmin_score: 0\nfirst_look: 0\nsecond_look: 0\nmax_overlap: null\n"
    )
    assert "uses itself" in model_readiness("detector", str(odd)).needs[0].lacks


def test_the_table_names_each_model_under_its_role(without):
    without("torch")
    lines = run().stdout.splitlines()
    detectors, lexicons = lines.index("detectors"), lines.index("lexicons")
    rows = {line.split()[0]: line for line in lines[detectors + 1 : lexicons]}
    assert {"clip-proposals", "grounding-dino", "owlvit", "sign-detector"} <= rows.keys()
    assert "not ready" in rows["owlvit"]
    assert "(missing)" in rows["owlvit"]
    assert rows["sign-detector"].split()[1] == "ready"
    assert any("pip install 'virl[vision]'" in line for line in lines)


def test_listing_imports_nothing_heavy(monkeypatch):
    for heavy in ("torch", "transformers", "open_clip", "rapidocr"):
        monkeypatch.delitem(sys.modules, heavy, raising=False)
    assert run().exit_code == 0
    assert not {"torch", "transformers", "open_clip", "rapidocr"} & sys.modules.keys()


@pytest.mark.slow
def test_the_sign_detector_is_tried_on_a_restaurant_in_virlton():
    result = run("--try", "sign-detector", "--json", "--device", "cpu")
    assert result.exit_code == 0, result.output
    tried = json.loads(result.stdout)
    assert (tried["name"], tried["role"]) == ("sign-detector", "detector")
    assert tried["result"][0]["label"] == "restaurant"
    assert "nothing found" in run("--try", "sign-detector", "--label", "hospital").stdout


@pytest.mark.slow
def test_matcher_and_lexicon_are_tried():
    said = run("--try", "sift").stdout
    assert int(said.split("matches ")[1]) > 20
    assert "types" in run("--try", "sign-lexicon", "--label", "Golden Noodle House").stdout


def test_what_cannot_be_tried_is_one_line():
    result = run("--try", "nope")
    assert result.exit_code == 2
    assert "unknown model 'nope': `virl models` lists all" in result.output
    assert result.output.count("\n") == 1


def test_one_model_is_told_with_what_to_install_and_where_its_weights_go(without, tmp_path):
    without("torch")
    told = run("owlvit").stdout
    for part in (
        "detector owlvit: not ready",
        "pip install 'virl[vision]'",
        f"google/owlvit-large-patch14: {tmp_path / 'data' / 'models' / 'google' / 'owlvit-large-patch14'}",
        "first look   0.2",
        "second look  0.3",
        "virl models --try owlvit",
    ):
        assert part in told, part
    assert json.loads(run("clip-vit-l-14", "--json").stdout)["paper"] == "V-IRL, table 4: recognition 37.2 %"
    assert "'virl[paddleocr]'" in run("paddleocr").stdout
    assert run("no-such-model").exit_code == 2


def test_the_list_has_the_papers_figures():
    assert "V-IRL, table 4: recognition 41.3 %" in run().stdout
    assert listed()["blip2"]["paper"] == "V-IRL, table 4: VQA 69.6 %"


def test_thresholds_of_single_labels_are_told(tmp_path):
    mine = tmp_path / "mine.yaml"
    by_label = "by_label:\n  fire hydrant: {first_look: 0.7, second_look: 0.8}\n"
    mine.write_text(model_file("simulated").read_text() + by_label)
    assert "by label     fire hydrant: 0.7, then 0.8" in run(str(mine)).stdout
    assert json.loads(run(str(mine), "--json").stdout)["by label"] == {"fire hydrant": [0.7, 0.8]}

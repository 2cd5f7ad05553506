import inspect
import subprocess
import sys
from typing import get_args

import pytest
from made_package import install

from virl.errors import BadInput, ModelUnavailable, UnknownName
from virl.platform.perception.base import Role
from virl.platform.perception.models import ModelOptions, Models, model_names, read_model
from virl.platform.perception.registry import KINDS, ModelSettings, find_kind, resolve
from virl.registry import scan_modules

PLUGIN = """
from typing import Literal
from virl.platform.perception.base import Detection, LookScores
from virl.platform.perception.models import DetectorSettings
from virl.platform.perception.registry import Kind

class Settings(DetectorSettings):
    kind: Literal["every-corner"]
    score: float

class EveryCorner:
    def __init__(self, settings):
        self.score, self.look_scores = settings.score, settings.look_scores

    def detect(self, views, labels):
        return [[Detection(label, self.score, (0, 0, 1, 1)) for label in labels] for _ in views]

def open_it(settings, models):
    return EveryCorner(settings)

KIND = Kind("detector", Settings, open_it)
KIND_BY_NAME = Kind("detector", "corner_plugin:Settings", "corner_plugin:open_it")
KIND_OF_NOTHING = Kind("detector", "corner_plugin:Nothing", "corner_plugin:open_it")
NO_KIND = "a string"
"""


class BareStreets:
    """The truth of a city with nothing in it."""

    def visible(self, pano_id, camera, min_pixels=12):
        return []

    def attributes(self, place_id):
        return {}


def corners(monkeypatch, site, entries, name="corners", group="virl.models"):
    install(monkeypatch, site, name, {group: entries}, {"corner_plugin": PLUGIN})


@pytest.mark.parametrize("name", KINDS.builtin())
def test_every_kind_has_the_role_of_its_folder_settings_and_an_opener_that_fit(name):
    kind = find_kind(name)
    assert KINDS.module(name).split(".")[-2] == f"{kind.role}s"
    settings = resolve(kind.settings)
    assert issubclass(settings, ModelSettings)
    assert name in get_args(settings.model_fields["kind"].annotation)
    assert len(inspect.signature(resolve(kind.opener)).parameters) == 2


def test_no_kind_hides_another():
    folders = [scan_modules(f"virl.platform.perception.{role}s", "KIND") for role in get_args(Role)]
    assert all(folders)
    assert sum(map(len, folders)) == len(KINDS.builtin())


@pytest.mark.slow
def test_kinds_are_listed_without_being_imported_and_imported_without_a_framework():
    code = (
        "import sys\n"
        "from virl.platform.perception.registry import KINDS, find_kind\n"
        "names = KINDS.builtin()\n"
        "assert not any(KINDS.module(name) in sys.modules for name in names)\n"
        "for name in names: find_kind(name)\n"
        "heavy = {'kornia', 'onnxruntime', 'open_clip', 'paddleocr', 'rapidocr', 'torch', 'transformers'}\n"
        "print(len(names), heavy & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{len(KINDS.builtin())} set()"


def test_every_model_file_is_read_and_opened_without_its_weights(monkeypatch):
    for heavy in ("torch", "transformers", "open_clip", "rapidocr"):
        monkeypatch.setitem(sys.modules, heavy, None)
    models = Models(ModelOptions(truth=BareStreets()))
    for role in ("describer", "detector", "lexicon", "matcher", "reader", "recognizer"):
        for name in model_names(role):
            assert read_model(role, name).needs() is not None
            assert models.open(role, name) is models.open(role, name)


def test_an_unknown_kind_lists_the_known_ones():
    with pytest.raises(
        UnknownName, match=r"unknown kind of model 'magic': choose one of: .*grounding-dino.*owlv2"
    ):
        find_kind("magic")


@pytest.mark.parametrize("group", ["virl.models", "virl.model_kinds"])
@pytest.mark.parametrize("where", ["KIND", "KIND_BY_NAME"])
def test_a_plug_in_adds_a_kind(monkeypatch, tmp_path, group, where):
    corners(monkeypatch, tmp_path / "site", [f"every-corner = corner_plugin:{where}"], group=group)
    assert "every-corner" in KINDS.names()
    file = tmp_path / "mine.yaml"
    file.write_text("kind: every-corner\nscore: 0.75\nfirst_look: 0.5\nsecond_look: 0.5\n")
    found = Models().detector(str(file)).detect([None], ["door"])
    assert [(one.label, one.score) for one in found[0]] == [("door", 0.75)]
    file.write_text("kind: every-corner\nscore: high\nfirst_look: 0.5\nsecond_look: 0.5\n")
    with pytest.raises(BadInput, match=r"mine\.yaml, line 2: score"):
        Models().detector(str(file))


def test_a_part_that_cannot_be_imported_is_named(monkeypatch, tmp_path):
    corners(monkeypatch, tmp_path / "site", ["every-corner = corner_plugin:KIND_OF_NOTHING"])
    file = tmp_path / "mine.yaml"
    file.write_text("kind: every-corner\nscore: 0.75\nfirst_look: 0.5\nsecond_look: 0.5\n")
    with pytest.raises(ModelUnavailable, match="corner_plugin:Nothing cannot be imported"):
        Models().detector(str(file))


def test_a_plug_in_does_not_replace_a_kind_of_virl(monkeypatch, tmp_path):
    ours = find_kind("sign-detector")
    corners(monkeypatch, tmp_path / "site", ["sign-detector = corner_plugin:KIND"])
    assert find_kind("sign-detector") is ours


def test_faulty_plug_ins_are_named_and_leave_the_others_alone(monkeypatch, tmp_path):
    entries = ["gone = corner_plugin:NOTHING", "absent = no_such_module:KIND", "odd = corner_plugin:NO_KIND"]
    corners(monkeypatch, tmp_path / "site", [*entries, "every-corner = corner_plugin:KIND"])
    for name in ("gone", "absent"):
        with pytest.raises(ModelUnavailable, match=f"kind of model '{name}' of corners cannot be imported"):
            find_kind(name)
    with pytest.raises(BadInput, match=r"corner_plugin:NO_KIND is not a virl\.\S+\.Kind"):
        find_kind("odd")
    assert find_kind("every-corner").role == "detector"
    assert find_kind("sift").role == "matcher"
    assert "sift" in model_names("matcher")


def test_two_packages_with_the_same_kind_are_both_named(monkeypatch, tmp_path):
    corners(monkeypatch, tmp_path / "a", ["every-corner = corner_plugin:KIND"])
    corners(monkeypatch, tmp_path / "b", ["every-corner = corner_plugin:KIND"], name="edges")
    with pytest.raises(BadInput, match="'every-corner' is provided by corners and edges"):
        find_kind("every-corner")

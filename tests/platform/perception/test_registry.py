import inspect
import sys
from importlib.metadata import entry_points
from typing import get_args

import pytest

from virl.errors import BadInput, ModelUnavailable, UnknownName
from virl.platform.perception.models import ModelOptions, Models, ModelSettings, model_names, read_model
from virl.platform.perception.registry import KINDS, PLUGINS, find_kind, kind_names, resolve

PLUGIN = """
from typing import Literal
from virl.platform.perception.base import Detection
from virl.platform.perception.models import ModelSettings
from virl.platform.perception.registry import Kind

class Settings(ModelSettings):
    kind: Literal["every-corner"]
    score: float

class EveryCorner:
    def __init__(self, settings):
        self.score = settings.score
    def detect(self, views, labels):
        return [[Detection(label, self.score, (0, 0, 1, 1)) for label in labels] for _ in views]

def open_it(settings, models):
    return EveryCorner(settings)

KIND = Kind("detector", "corner_plugin:Settings", "corner_plugin:open_it")
NO_KIND = "a string"
"""


class BareStreets:
    """The truth of a city with nothing in it."""

    def visible(self, pano_id, camera, min_pixels=12):
        return []

    def attributes(self, place_id):
        return {}


def install(monkeypatch, folder, name, entries, source=PLUGIN, module="corner_plugin"):
    """Put a package with entry points on the path, laid out as an installed one."""
    folder.mkdir(exist_ok=True)
    (folder / f"{module}.py").write_text(source)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{PLUGINS}]\n" + "\n".join(entries) + "\n")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, module, raising=False)


@pytest.mark.parametrize("name", list(KINDS))
def test_every_kind_has_settings_and_an_opener_that_fit(name):
    kind = find_kind(name)
    settings = resolve(kind.settings)
    assert issubclass(settings, ModelSettings)
    assert name in get_args(settings.model_fields["kind"].annotation)
    assert len(inspect.signature(resolve(kind.opener)).parameters) == 2


def test_the_table_is_sorted():
    assert list(KINDS) == sorted(KINDS)


def test_every_model_file_is_read_and_opened_without_its_weights(monkeypatch):
    for heavy in ("torch", "transformers", "open_clip", "rapidocr"):
        monkeypatch.setitem(sys.modules, heavy, None)
    models = Models(ModelOptions(truth=BareStreets()))
    for role in ("describer", "detector", "lexicon", "matcher", "reader", "recognizer"):
        for name in model_names(role):
            assert read_model(role, name).needs() is not None
            assert models.open(role, name) is models.open(role, name)


def test_an_unknown_kind_lists_the_known_ones():
    with pytest.raises(UnknownName, match=r"unknown kind of model 'magic': there is .*grounding-dino.*owlv2"):
        find_kind("magic")


def test_a_plug_in_adds_a_kind(monkeypatch, tmp_path):
    install(monkeypatch, tmp_path / "site", "corners", ["every-corner = corner_plugin:KIND"])
    assert [one.name for one in entry_points(group=PLUGINS)] == ["every-corner"]
    assert "every-corner" in kind_names()
    file = tmp_path / "mine.yaml"
    file.write_text("kind: every-corner\nscore: 0.75\n")
    found = Models().detector(str(file)).detect([None], ["door"])
    assert [(one.label, one.score) for one in found[0]] == [("door", 0.75)]
    file.write_text("kind: every-corner\nscore: high\n")
    with pytest.raises(BadInput, match=r"mine\.yaml, line 2: score"):
        Models().detector(str(file))


def test_a_plug_in_does_not_replace_a_kind_of_virl(monkeypatch, tmp_path):
    install(monkeypatch, tmp_path / "site", "corners", ["sign-detector = corner_plugin:KIND"])
    assert find_kind("sign-detector") is KINDS["sign-detector"]


def test_faulty_plug_ins_are_named_and_leave_the_others_alone(monkeypatch, tmp_path):
    entries = ["gone = corner_plugin:NOTHING", "absent = no_such_module:KIND", "odd = corner_plugin:NO_KIND"]
    install(monkeypatch, tmp_path / "site", "corners", [*entries, "every-corner = corner_plugin:KIND"])
    for name in ("gone", "absent"):
        with pytest.raises(ModelUnavailable, match=f"kind '{name}' of corners cannot be imported"):
            find_kind(name)
    with pytest.raises(BadInput, match="corner_plugin:NO_KIND is no Kind"):
        find_kind("odd")
    assert find_kind("every-corner").role == "detector"
    assert find_kind("sift") is KINDS["sift"]


def test_two_packages_with_the_same_kind_are_both_named(monkeypatch, tmp_path):
    install(monkeypatch, tmp_path / "a", "corners", ["every-corner = corner_plugin:KIND"])
    install(monkeypatch, tmp_path / "b", "edges", ["every-corner = corner_plugin:KIND"])
    with pytest.raises(BadInput, match=r"'every-corner' is given by (corners and edges|edges and corners)"):
        find_kind("every-corner")

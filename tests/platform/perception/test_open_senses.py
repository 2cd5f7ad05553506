import sys

import pytest

from virl.errors import UnknownName
from virl.platform.perception.models import ModelOptions, Models
from virl.platform.perception.senses import open_senses
from virl.resources import data_folder


def test_senses_open_without_loading_a_model(monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    senses = open_senses()
    assert senses.detector.detect([], []) == []
    assert senses.describer.describe([]) == []


@pytest.mark.parametrize("name", ["glip", "rapidocr", "prices", "../models/sign-detector"])
def test_an_unknown_detector_is_refused_with_the_known_ones(name):
    with pytest.raises(UnknownName, match=r"unknown detector .*choose one of: .*sign-detector"):
        open_senses(detector=name)


def test_an_unknown_describer_or_reader_is_refused_with_the_known_ones():
    with pytest.raises(UnknownName, match=r"unknown describer 'cyclops': choose one of: .*sign-describer"):
        open_senses(describer="cyclops")
    with pytest.raises(UnknownName, match=r"unknown reader 'tesseract': choose one of: .*rapidocr"):
        Models().reader("tesseract")


@pytest.mark.slow
def test_place_types_come_from_the_lexicon_whatever_the_detector():
    signs, words = open_senses(), open_senses("owlv2", options=ModelOptions(device="cpu"))
    assert "restaurant" in signs.place_types
    assert words.place_types == signs.place_types
    assert type(words.detector) is not type(signs.detector)


def test_place_types_are_those_of_the_detectors_own_lexicon(tmp_path):
    lexicon, detector = tmp_path / "lexicon.yaml", tmp_path / "detector.yaml"
    lexicon.write_text(
        "kind: sign-lexicon\nname_weight: 0.9\nhint_weight: 0.5\ntypes: {museum: {names: {en: museum}}}\n"
    )
    shipped = (data_folder("platform/models") / "sign-detector.yaml").read_text()
    detector.write_text(shipped.replace("sign-lexicon", str(lexicon)))
    assert open_senses(str(detector)).place_types == ("museum",)

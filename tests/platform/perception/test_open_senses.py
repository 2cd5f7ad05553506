import sys

import pytest

from virl.errors import UnknownName
from virl.platform.perception.open import open_reader, open_senses


def test_senses_open_without_loading_a_model(monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    senses = open_senses()
    assert senses.detector.detect([], []) == []
    assert senses.describer.describe([]) == []


@pytest.mark.parametrize("name", ["glip", "rapidocr", "prices", "../models/sign-detector"])
def test_an_unknown_detector_is_refused_with_the_known_ones(name):
    with pytest.raises(UnknownName, match=r"unknown detector .*: there is sign-detector"):
        open_senses(detector=name)


def test_an_unknown_describer_or_reader_is_refused_with_the_known_ones():
    with pytest.raises(UnknownName, match="unknown describer 'blip': there is sign-describer"):
        open_senses(describer="blip")
    with pytest.raises(UnknownName, match="unknown reader 'tesseract': there is rapidocr"):
        open_reader("tesseract")

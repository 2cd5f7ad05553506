"""Putting senses together from the model files in `platform/models`.

Nothing heavy happens here: weights are loaded when something is first read.
"""

import re
from pathlib import Path
from typing import TypeVar, get_args

from virl.errors import UnknownName
from virl.platform.perception.base import Describer, Detector, Reader, Senses
from virl.platform.perception.describe import SignDescriber, SignDescriberSettings
from virl.platform.perception.lexicon import Lexicon, LexiconSettings
from virl.platform.perception.reader import RapidOcrReader, RapidOcrSettings
from virl.platform.perception.signs import SignDetector, SignDetectorSettings
from virl.resources import data_folder, names_in
from virl.settings import Settings, load_settings

_FOLDER = "platform/models"
_KIND = re.compile(r"^kind:\s*([\w-]+)", re.MULTILINE)
SettingsT = TypeVar("SettingsT", bound=Settings)


class _Models:
    """Opens models by name, each of them once."""

    def __init__(self) -> None:
        self._readers: dict[str, Reader] = {}
        self._lexicons: dict[str, Lexicon] = {}
        self._detectors: dict[str, Detector] = {}

    def reader(self, name: str) -> Reader:
        if name not in self._readers:
            self._readers[name] = RapidOcrReader(_read("reader", name, RapidOcrSettings))
        return self._readers[name]

    def lexicon(self, name: str) -> Lexicon:
        if name not in self._lexicons:
            self._lexicons[name] = Lexicon(_read("lexicon", name, LexiconSettings))
        return self._lexicons[name]

    def detector(self, name: str) -> Detector:
        if name not in self._detectors:
            settings = self.settings(name)
            self._detectors[name] = SignDetector(
                self.reader(settings.reader), self.lexicon(settings.lexicon), settings
            )
        return self._detectors[name]

    def settings(self, detector: str) -> SignDetectorSettings:
        return _read("detector", detector, SignDetectorSettings)

    def describer(self, name: str) -> Describer:
        settings = _read("describer", name, SignDescriberSettings)
        return SignDescriber(self.detector(settings.detector), self.lexicon(settings.lexicon), settings)


def open_senses(detector: str = "sign-detector", describer: str = "sign-describer") -> Senses:
    """The perception models that an agent carries.

    Args:
        detector: name of a detector in `platform/models`.
        describer: name of a describer in `platform/models`; shares its parts with the detector.

    Raises:
        UnknownName: there is no such model.
        BadInput: a model's file does not hold what it should.
    """
    models = _Models()
    place_types = models.lexicon(models.settings(detector).lexicon).place_types
    return Senses(models.detector(detector), models.describer(describer), place_types)


def open_reader(name: str = "rapidocr") -> Reader:
    """A reader (OCR) by its name in `platform/models`.

    Raises:
        UnknownName: there is no such reader.
        BadInput: its file does not hold what it should.
    """
    return _Models().reader(name)


def _read(role: str, name: str, model: type[SettingsT]) -> SettingsT:
    known = [other for other in names_in(_FOLDER, ".yaml") if _kind(_path(other)) in _kinds_of(model)]
    if name not in known:
        raise UnknownName(role, name, known)
    return load_settings(_path(name), model)


def _kind(path: Path) -> str:
    line = _KIND.search(path.read_text(encoding="utf-8"))
    return line[1] if line else ""


def _kinds_of(model: type[Settings]) -> tuple[str, ...]:
    return get_args(model.model_fields["kind"].annotation)


def _path(name: str) -> Path:
    return data_folder(_FOLDER) / f"{name}.yaml"

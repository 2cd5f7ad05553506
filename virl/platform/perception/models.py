"""Models by name: reads their files in `platform/models` and opens each of them once.

Nothing heavy happens here: weights are loaded when a model is first used.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Literal, cast

from virl.errors import BadInput, UnknownName, VirlError
from virl.platform.city.city import Truth
from virl.platform.city.streetview import Image
from virl.platform.perception.base import Describer, Detector, LookScores, Matcher, Reader, Recognizer, Role
from virl.platform.perception.kept_finds import KeptFinds, KeptReadings
from virl.platform.perception.lexicons.sign_lexicon import Lexicon
from virl.platform.perception.registry import KINDS, DetectorSettings, ModelSettings, find_kind, resolve
from virl.resources import data_folder, names_in
from virl.settings.model import load_settings
from virl.settings.yaml import read_text

Device = Literal["auto", "cpu", "cuda"]
"""Device for models; "auto" takes a GPU where there is one."""

_FOLDER = "platform/models"
"""Folder of virl's own model files among its data."""
_KIND = re.compile(r"^kind:\s*([\w-]+)", re.MULTILINE)
"""Pattern of the line of a model file that states its kind."""


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """A user's options for all perception models."""

    device: Device = "auto"
    """Device of the models; `"auto"` takes a GPU where there is one."""
    allow_downloads: bool = False
    """True if missing weights may be fetched from a model hub."""
    truth: Truth | None = None
    """Ground truth that the simulated detector uses; `None` outside made cities."""
    is_drawn: bool = False
    """True if virl draws the views; a city with `truth` counts as drawn in any case."""
    seed: int = 0
    """Seed of all random numbers of models."""
    answer: Callable[[str, Sequence[Image]], str] | None = None
    """Function (question, pictures) to a chat model's answer, for the chat describer; `None` for none."""
    given: Mapping[Role, object] = field(default_factory=dict)
    """Models made by the caller, by role: each stands in for all models of that role."""

    @property
    def is_rendered(self) -> bool:
        """Return whether virl draws the views of the city."""
        return self.is_drawn or self.truth is not None


class Models:
    """The perception models, opened by name, each once. Safe to share between threads.

    A name is that of a file in `platform/models` or of one that comes with a package, or a path that ends in
    `.yaml`. Every method raises:

        UnknownName: there is no such model.
        BadInput: its file does not hold what it should, or it uses itself.
    """

    def __init__(self, options: ModelOptions | None = None) -> None:
        """Use some options for all models; by default, `ModelOptions()`."""
        self.options = options or ModelOptions()
        self._opened: dict[tuple[Role, str], object] = {}
        self._opening: list[tuple[Role, str]] = []
        self._lock = RLock()

    def detector(self, name: str) -> Detector:
        """Return the detector with this name."""
        if "detector" not in self.options.given:
            look_scores(name)
        return cast("Detector", self.open("detector", name))

    def keeping_detector(self, name: str) -> Detector:
        """Return the detector with this name, storing its finds if it is virl's own and sees pixels alone."""
        model, kept_name = self.detector(name), self._kept_name("detector", name)
        return KeptFinds(model, kept_name) if kept_name else model

    def recognizer(self, name: str) -> Recognizer:
        """Return the recognizer with this name."""
        return cast("Recognizer", self.open("recognizer", name))

    def reader(self, name: str) -> Reader:
        """Return the reader (OCR) with this name."""
        return cast("Reader", self.open("reader", name))

    def keeping_reader(self, name: str) -> Reader:
        """Return the reader with this name, storing its lines if it is virl's own and sees pixels alone."""
        model, kept_name = self.reader(name), self._kept_name("reader", name)
        return KeptReadings(model, kept_name) if kept_name else model

    def _kept_name(self, role: Role, name: str) -> str:
        """Return the name under which a model's results are stored; empty for one whose results are not."""
        is_own = role not in self.options.given and name in names_in(_FOLDER, ".yaml")
        if not is_own or not read_model(role, name).sees_pixels_alone:
            return ""
        return f"{name} {'drawn' if self.options.is_rendered else 'photographed'}"

    def matcher(self, name: str) -> Matcher:
        """Return the matcher with this name."""
        return cast("Matcher", self.open("matcher", name))

    def describer(self, name: str) -> Describer:
        """Return the describer with this name."""
        return cast("Describer", self.open("describer", name))

    def lexicon(self, name: str) -> Lexicon:
        """Return the lexicon with this name."""
        return cast("Lexicon", self.open("lexicon", name))

    def open(self, role: Role, name: str) -> object:
        """Open the model of a role and name; at later calls return the same one.

        Raises:
            BadInput: the model uses itself.
        """
        if role in self.options.given:
            return self.options.given[role]
        with self._lock:
            asked = (role, name)
            if asked in self._opened:
                return self._opened[asked]
            if asked in self._opening:
                round_trip = " -> ".join(other for _, other in [*self._opening, asked])
                raise BadInput(f"{role} {name!r} uses itself ({round_trip}): use another model in its file")
            # A model opens those that it uses meanwhile: one that is asked for again uses itself.
            self._opening.append(asked)
            try:
                settings = read_model(role, name)
                opened = resolve(find_kind(settings.kind).opener)(settings, self)
            finally:
                self._opening.pop()
            self._opened[asked] = opened
            return opened


def model_names(role: Role) -> list[str]:
    """Return the sorted names of a role's model files, virl's own and those of other packages."""
    own = {name: data_folder(_FOLDER) / f"{name}.yaml" for name in names_in(_FOLDER, ".yaml")}
    brought = {name: files[0] for name, files in _files_of_packages().items()}
    return sorted(name for name, file in (brought | own).items() if _role(file) == role)


def measured_error(detector: str) -> str:
    """Return a sentence on the error of a detector's counts; empty if it is not stated or not known."""
    if not detector or detector not in model_names("detector"):
        return ""
    measured = read_model("detector", detector).measured
    return f"Error of counts with {detector}, as measured: {measured}." if measured else ""


def model_file(name: str) -> Path:
    """Return the path of a model's file, of virl or another package; a `name` ending in `.yaml` is the path.

    Raises:
        UnknownName: there is no model of this name.
        BadInput: two packages have a model of this name.
    """
    if name.endswith(".yaml"):
        return Path(name).expanduser()
    own = names_in(_FOLDER, ".yaml")
    if name in own:
        return data_folder(_FOLDER) / f"{name}.yaml"
    packages = _files_of_packages()
    match packages.get(name, []):
        case []:
            raise UnknownName("model", name, [*own, *packages])
        case [file]:
            return file
        case files:
            raise BadInput(f"model {name!r} is {' and '.join(map(str, files))}: give the path of one of them")


def read_model(role: Role, name: str) -> ModelSettings:
    """Return the checked settings in the file of the model with a role and name.

    Raises:
        UnknownName: there is no model of this role and name, or nothing knows its kind.
        BadInput: the file does not hold what it should.
        ModelUnavailable: its kind comes with a package that cannot be imported.
    """
    try:
        path = model_file(name)
    except UnknownName as fault:
        raise UnknownName(role, name, model_names(role)) from fault
    kind_name = _kind(path)
    kind = find_kind(kind_name) if kind_name else None
    if kind is None or kind.role != role:
        raise UnknownName(role, name, model_names(role))
    settings: type[ModelSettings] = resolve(kind.settings)
    return load_settings(path, settings)


def look_scores(detector: str) -> LookScores:
    """Return the least scores that a detector's file states.

    Raises:
        UnknownName, ModelUnavailable: as `read_model`.
        BadInput: as `read_model`, or the code behind its kind knows no thresholds.
    """
    settings = read_model("detector", detector)
    if not isinstance(settings, DetectorSettings):
        raise BadInput(
            f"detector {detector!r} states no first_look and second_look: let the settings of its kind "
            f"{settings.kind!r} inherit from DetectorSettings"
        )
    return settings.look_scores


def check_labels(detector: str, labels: Sequence[str]) -> None:
    """Raise `BadInput` if a detector never finds one of some labels; no weights are loaded.

    Raises:
        BadInput: it never finds some of them.
        UnknownName, ModelUnavailable: as `read_model`.
    """
    settings = read_model("detector", detector)
    if isinstance(settings, DetectorSettings) and (unknown := settings.unknown(labels)):
        raise BadInput(
            f"{detector} never finds {' and '.join(map(repr, unknown))}: choose a detector that takes any "
            "words, such as grounding-dino or owlv2 (see `virl models`)"
        )


def _files_of_packages() -> dict[str, list[Path]]:
    """Return the model files that come with other packages, by model name; more than one is a clash."""
    folders = {kind.models for kind in KINDS.others()[0].values() if kind.models}
    files: dict[str, list[Path]] = {}
    for file in sorted(file for folder in folders for file in folder.glob("*.yaml")):
        files.setdefault(file.stem, []).append(file)
    return files


def _role(path: Path) -> Role | None:
    """Return the role of a model file; `None` if its kind is unknown or its package is broken."""
    kind = _kind(path)
    try:
        return None if kind is None else find_kind(kind).role
    except VirlError:
        return None


def _kind(path: Path) -> str | None:
    """Return the kind that a model file states; `None` for other files."""
    line = _KIND.search(read_text(path))
    return line[1] if line else None

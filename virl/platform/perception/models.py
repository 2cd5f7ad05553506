"""Models by name: reads their files in `platform/models` and opens each of them once.

Nothing heavy happens here: weights are loaded when a model is first used.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any, Literal

from virl.errors import BadInput, UnknownName
from virl.platform.city import Truth
from virl.platform.perception.base import Describer, Detector, Matcher, Reader, Recognizer, Role
from virl.platform.perception.lexicon import Lexicon
from virl.platform.perception.model_settings import ModelResources, ModelSettings, Needs
from virl.platform.perception.registry import find_kind, resolve
from virl.platform.streetview import Image
from virl.resources import data_folder, names_in
from virl.settings import load_settings

__all__ = [
    "Device",
    "ModelOptions",
    "ModelResources",
    "ModelSettings",
    "Models",
    "Needs",
    "model_file",
    "model_names",
    "read_model",
]

Device = Literal["auto", "cpu", "cuda"]

_FOLDER = "platform/models"
_KIND = re.compile(r"^kind:\s*([\w-]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What a user asks of all models."""

    device: Device = "auto"
    """`"auto"` takes a GPU where there is one."""
    allow_downloads: bool = False
    """Whether weights that are not on this machine may be fetched from a model hub."""
    truth: Truth | None = None
    """What the simulated detector sees; only a made city has it."""
    seed: int = 0
    """Of whatever a model does by chance."""
    answer: Callable[[str, Sequence[Image]], str] | None = None
    """Puts a question and pictures to a chat model; what the chat describer asks."""


class Models:
    """Opens models by name, each of them once. Safe to share between threads.

    A name is that of a file in `platform/models`, or a path that ends in `.yaml`. Every method raises:

        UnknownName: there is no such model.
        BadInput: its file does not hold what it should, or it uses itself.
    """

    def __init__(self, options: ModelOptions | None = None) -> None:
        self.options = options or ModelOptions()
        self._opened: dict[tuple[Role, str], Any] = {}
        self._opening: list[tuple[Role, str]] = []
        self._lock = RLock()

    def detector(self, name: str) -> Detector:
        """A detector."""
        model: Detector = self._open("detector", name)
        return model

    def recognizer(self, name: str) -> Recognizer:
        """A recognizer."""
        model: Recognizer = self._open("recognizer", name)
        return model

    def reader(self, name: str) -> Reader:
        """A reader (OCR)."""
        model: Reader = self._open("reader", name)
        return model

    def matcher(self, name: str) -> Matcher:
        """A matcher."""
        model: Matcher = self._open("matcher", name)
        return model

    def describer(self, name: str) -> Describer:
        """A describer."""
        model: Describer = self._open("describer", name)
        return model

    def lexicon(self, name: str) -> Lexicon:
        """A lexicon."""
        model: Lexicon = self._open("lexicon", name)
        return model

    def open(self, role: Role, name: str) -> object:
        """A model of any role."""
        model: object = self._open(role, name)
        return model

    def _open(self, role: Role, name: str) -> Any:
        with self._lock:
            asked = (role, name)
            if asked in self._opened:
                return self._opened[asked]
            if asked in self._opening:
                round_trip = " -> ".join(other for _, other in [*self._opening, asked])
                raise BadInput(f"{role} {name!r} uses itself ({round_trip}): use another model in its file")
            self._opening.append(asked)
            try:
                settings = read_model(role, name)
                opened = resolve(find_kind(settings.kind).opener)(settings, self)
            finally:
                self._opening.pop()
            self._opened[asked] = opened
            return opened


def model_names(role: Role) -> list[str]:
    """The names of the model files of a role, sorted."""
    return [name for name in names_in(_FOLDER, ".yaml") if _role(model_file(name)) == role]


def model_file(name: str) -> Path:
    """The file of a model: in `platform/models`, or the name itself if that is a path to a YAML file."""
    return Path(name).expanduser() if name.endswith(".yaml") else data_folder(_FOLDER) / f"{name}.yaml"


def read_model(role: Role, name: str) -> ModelSettings:
    """What a model's file holds.

    Raises:
        UnknownName: there is no model of this role and name, or nothing knows its kind.
        BadInput: the file does not hold what it should.
        ModelUnavailable: its kind comes with a package that cannot be imported.
    """
    path = model_file(name)
    if not name.endswith(".yaml") and name not in names_in(_FOLDER, ".yaml"):
        raise UnknownName(role, name, model_names(role))
    kind_name = _kind(path)
    if kind_name is None:
        raise UnknownName(role, name, model_names(role))
    kind = find_kind(kind_name)
    if kind.role != role:
        raise UnknownName(role, name, model_names(role))
    settings: type[ModelSettings] = resolve(kind.settings)
    return load_settings(path, settings)


def _role(path: Path) -> Role | None:
    kind = _kind(path)
    try:
        return None if kind is None else find_kind(kind).role
    except UnknownName:
        return None


def _kind(path: Path) -> str | None:
    """The `kind` of a model file; other files there have none."""
    try:
        line = _KIND.search(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as fault:
        raise BadInput(f"{path}: cannot be read ({fault})") from fault
    return line[1] if line else None

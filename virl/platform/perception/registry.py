"""The kinds of models: the settings in a model file, and which code stands behind its `kind`.

Each module of the folder of a role, such as `detectors/grounding_dino.py`, holds one as `KIND`: there,
`grounding-dino`. Other packages add kinds by the entry-point group `virl.models`: the name is the kind, the
object a `Kind`. Nothing is imported before it is asked for, and no kind loads a framework before it is used.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar, get_args

from pydantic import AfterValidator, Field, field_validator, model_validator

from virl.errors import ModelUnavailable
from virl.platform.perception.base import LookScores, Role, plain_label
from virl.registry import Registry, load, scan_modules
from virl.settings.model import Settings


@dataclass(frozen=True, slots=True)
class Needs:
    """The requirements of a perception model."""

    packages: tuple[str, ...] = ()
    """Names of the packages that the model imports."""
    extra: str = ""
    """Name of the extra of virl that brings the packages; empty if none does."""
    files: tuple[Path, ...] = ()
    """Files and folders that must exist."""
    weights: tuple[str, ...] = ()
    """Paths or hub ids of checkpoints, as `virl.platform.perception.weights.checkpoint` takes them."""
    models: tuple[tuple[Role, str], ...] = ()
    """(role, name) of other models that the model uses."""
    drawn: tuple[tuple[Role, str], ...] = ()
    """(role, name) of further models that are used only in cities that virl draws."""
    pip: str = ""
    """Arguments of `pip install` for the packages, where no extra brings them."""
    clash: str = ""
    """Reason why the installed packages do not work together, and the remedy; empty if they do."""
    truth: str = ""
    """Reason why the model cannot be used without ground truth, and the remedy; empty if it can."""

    @property
    def install(self) -> str:
        """Arguments of `pip install` for the packages; empty if their own names will do."""
        return self.pip or (f"'virl[{self.extra}]'" if self.extra else "")


class ModelResources(Settings):
    """The share of a machine that one replica of a model takes, for a cluster to find room."""

    cpus: float = Field(1, ge=0)
    """Number of CPU cores."""
    gpus: float = Field(0, ge=0)
    """Number of GPUs; a share such as 0.25 lets as many replicas on one as fit."""


class ModelSettings(Settings):
    """The base of the settings in model files."""

    sees_pixels_alone: ClassVar[bool] = False
    """True if the model's results depend only on its file, its weights and the picture."""

    kind: str
    """Name of the code behind the model, such as `grounding-dino`; see `KINDS`."""
    resources: ModelResources = ModelResources()
    """Share of a machine that a replica of the model takes."""
    paper: str = ""
    """Figures that a paper reports of the model, with their place in it; `virl models` shows them."""
    measured: str = ""
    """Measured error of the model's counts and the towns it holds for, shown beside counts; may be empty."""

    def needs(self) -> Needs:
        """Return the requirements of the model."""
        return Needs()


class LookThresholds(Settings):
    """The least scores, [0, 1], at which a detector's find is worth a closer look, and is confirmed."""

    first_look: float = Field(ge=0, le=1)
    """Least score at a first look, from which a closer look is worth while, [0, 1]."""
    second_look: float = Field(ge=0, le=1)
    """Least score at the closer look that confirms a detection, [0, 1]."""

    @model_validator(mode="after")
    def _second_is_no_lower(self) -> Self:
        """Check that `second_look` is not below `first_look`."""
        if self.second_look < self.first_look:
            raise ValueError(f"second_look should be {self.first_look:g}, as first_look, or more")
        return self

    @property
    def look_scores(self) -> LookScores:
        """Both thresholds as the `look_scores` of a detector."""
        return LookScores(self.first_look, self.second_look)


class DetectorSettings(LookThresholds, ModelSettings):
    """The base of the settings of detectors: least scores, for all labels and for single ones."""

    by_label: dict[str, LookThresholds] = Field(default_factory=dict)
    """Least scores of single labels, in place of the file's; case and underscores do not count."""

    def unknown(self, labels: Sequence[str]) -> list[str]:  # noqa: ARG002 - of detectors with fixed labels
        """Return those of `labels` that the detector never finds; none if it takes any words."""
        return []

    @field_validator("by_label")
    @classmethod
    def _names_each_label_once(cls, by_label: dict[str, LookThresholds]) -> dict[str, LookThresholds]:
        """Check that no label is blank, and no two are equal but for case and underscores."""
        names = [plain_label(label) for label in by_label]
        if twice := [name for name in names if not name or names.count(name) > 1]:
            raise ValueError(
                f"has {twice[0]!r} twice: write one" if twice[0] else "has a label without words"
            )
        return by_label

    @property
    def look_scores(self) -> LookScores:
        """All thresholds of the file as the `look_scores` of a detector."""
        by_label = {plain_label(label): one.look_scores for label, one in self.by_label.items()}
        return LookScores(self.first_look, self.second_look, by_label)


def require_placeholder(mark: str, advice: str = "", *, or_empty: bool = False) -> AfterValidator:
    """Return a check that a field's text holds the placeholder `mark`; `advice` is the end of the error text.

    Args:
        mark: the placeholder, such as `{label}`.
        advice: end of the error's text.
        or_empty: True if the text may also be empty.
    """

    def check(text: str) -> str:
        """Return a text as it is; raise `ValueError` if it lacks the placeholder."""
        if mark not in text and (text or not or_empty):
            raise ValueError(f"must contain {mark}{advice}")
        return text

    return AfterValidator(check)


class MatcherSettings(ModelSettings):
    """The base of the settings of matchers: from how many matches two crops show the same object."""

    min_matches: int = Field(ge=1)
    """Least number of points in common of two crops that show the same object."""
    margin: float = Field(ge=0)
    """Margin of crops on each side of a box, as a share of the box's width and height."""


T = TypeVar("T")

ROLES: tuple[Role, ...] = get_args(Role)
"""All roles of models."""


@dataclass(frozen=True, slots=True)
class Kind:
    """The role, settings class and opener of a `kind` of model; the last two may be `"module:name"`."""

    role: Role
    """Role of the models of this kind."""
    settings: type[ModelSettings] | str
    """Class of the settings in model files of this kind."""
    opener: Callable[[Any, Any], object] | str
    """Function (settings, `Models`) to the model, which loads no weights yet."""
    models: Path | None = None
    """Folder of model files that come with the kind; `None` for virl's own kinds and those without files."""


def _own_kinds() -> dict[str, str]:
    """Return where each of virl's own kinds is defined, as `"module:name"`, by name."""
    folders = (f"virl.platform.perception.{role}s" for role in ROLES)
    return {kind: where for folder in folders for kind, where in scan_modules(folder, "KIND").items()}


KINDS: Registry[Kind] = Registry(
    kind="kind of model",
    group="virl.models",
    expected=Kind,
    builtin=_own_kinds,
    aliases=("virl.model_kinds",),
)
"""All kinds of models, of virl and of other packages, by name."""


def find_kind(name: str) -> Kind:
    """Return the kind of model with this name, virl's own or a plug-in's.

    Raises:
        UnknownName: there is no such kind.
        ModelUnavailable: a plug-in cannot be imported.
        BadInput: a plug-in's entry point is no `Kind`, or two packages give the same kind.
    """
    return KINDS.find(name)


def resolve(part: T | str) -> T:
    """Return a part of a `Kind` as it is, or imported if it is given as `"module:name"`.

    Raises:
        ModelUnavailable: the object cannot be imported.
    """
    if not isinstance(part, str):
        return part
    try:
        found: T = load(part)
    except (ImportError, AttributeError) as fault:
        raise ModelUnavailable(f"{part} cannot be imported ({fault}): install what it needs") from fault
    return found

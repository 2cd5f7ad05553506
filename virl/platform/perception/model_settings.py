"""What the file of a model holds, and what a model cannot be used without."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, field_validator, model_validator

from virl.platform.perception.base import LookScores, Role, plain_label
from virl.settings.model import Settings


@dataclass(frozen=True, slots=True)
class Needs:
    """The requirements of a model."""

    packages: tuple[str, ...] = ()
    """Names to import."""
    extra: str = ""
    """The extra of virl that brings the packages."""
    files: tuple[Path, ...] = ()
    """Files and folders that must be there."""
    weights: tuple[str, ...] = ()
    """Checkpoints, as `virl.platform.perception.weights.checkpoint` takes them."""
    models: tuple[tuple[Role, str], ...] = ()
    """Other models that it uses: role and name."""
    drawn: tuple[tuple[Role, str], ...] = ()
    """Further ones that it uses only in towns that virl draws."""
    pip: str = ""
    """Arguments of `pip install` for the packages, where no extra brings them."""
    clash: str = ""
    """Reason why the installed packages do not work together, and the remedy; empty if they do."""
    truth: str = ""
    """Reason why it cannot be used in a city without ground truth, and the remedy; empty if it can."""

    @property
    def install(self) -> str:
        """The arguments of `pip install`; empty if the packages' own names will do."""
        return self.pip or (f"'virl[{self.extra}]'" if self.extra else "")


class ModelResources(Settings):
    """The share of a machine that a replica of a model takes, where a cluster has to find room for it."""

    cpus: float = Field(1, ge=0)
    gpus: float = Field(0, ge=0)
    """A share of one, such as 0.25, lets as many replicas on it as fit."""


class ModelSettings(Settings):
    """Base of what model files hold."""

    sees_pixels_alone: ClassVar[bool] = False
    """True if what it finds depends on nothing but its file, its weights and the picture."""

    kind: str
    resources: ModelResources = ModelResources()
    paper: str = ""
    """The figures that a paper reports of it, with the place; `virl models` shows them."""
    measured: str = ""
    """Its measured error, with the towns; told beside every count. Empty where nobody measured it."""

    def needs(self) -> Needs:
        """Return the requirements of the model."""
        return Needs()


class LookThresholds(Settings):
    """Scores at which a detector's finds are believed, [0, 1]."""

    first_look: float = Field(ge=0, le=1)
    """Least score at a first look, from which on a closer look is worth while."""
    second_look: float = Field(ge=0, le=1)
    """Least score that confirms it at the closer look."""

    @model_validator(mode="after")
    def _second_is_no_lower(self) -> Self:
        if self.second_look < self.first_look:
            raise ValueError(f"second_look should be {self.first_look:g}, as first_look, or more")
        return self

    @property
    def look_scores(self) -> LookScores:
        """Both, as a detector tells them."""
        return LookScores(self.first_look, self.second_look)


class DetectorSettings(LookThresholds, ModelSettings):
    """Base of what the files of detectors hold: each states its own thresholds, and where they come from."""

    by_label: dict[str, LookThresholds] = Field(default_factory=dict)
    """Thresholds of single labels, in place of those of the file; case and underscores do not count."""

    def unknown(self, labels: Sequence[str]) -> list[str]:  # noqa: ARG002 - of detectors with fixed labels
        """Return those of some labels that it never finds; none for a detector that takes any words."""
        return []

    @field_validator("by_label")
    @classmethod
    def _names_each_label_once(cls, by_label: dict[str, LookThresholds]) -> dict[str, LookThresholds]:
        names = [plain_label(label) for label in by_label]
        if twice := [name for name in names if not name or names.count(name) > 1]:
            raise ValueError(
                f"has {twice[0]!r} twice: write one" if twice[0] else "has a label without words"
            )
        return by_label

    @property
    def look_scores(self) -> LookScores:
        """All of them, as a detector tells them."""
        by_label = {plain_label(label): one.look_scores for label, one in self.by_label.items()}
        return LookScores(self.first_look, self.second_look, by_label)

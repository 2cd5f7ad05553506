"""What the file of a model holds, and what a model cannot be used without."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, model_validator

from virl.platform.perception.base import LookScores, Role
from virl.settings.model import Settings


@dataclass(frozen=True, slots=True)
class Needs:
    """What a model cannot be used without."""

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
    """What to give to `pip install` for the packages, where no extra brings them."""
    clash: str = ""
    """Why the packages that are installed do not work together, and what to do; empty if they do."""
    truth: str = ""
    """Why it cannot be used in a city without ground truth, and what to do; empty if it can."""

    @property
    def install(self) -> str:
        """What to give to `pip install`; empty if the packages' own names will do."""
        return self.pip or (f"'virl[{self.extra}]'" if self.extra else "")


class ModelResources(Settings):
    """What a replica of a model takes of a machine, where a cluster has to find room for it."""

    cpus: float = Field(1, ge=0)
    gpus: float = Field(0, ge=0)
    """A share of one, such as 0.25, lets as many replicas on it as fit."""


class ModelSettings(Settings):
    """Base of what model files hold."""

    kind: str
    resources: ModelResources = ModelResources()
    paper: str = ""
    """What a paper reports of it, with the place; `virl models` shows it."""

    def needs(self) -> Needs:
        """What the model cannot be used without."""
        return Needs()


class DetectorSettings(ModelSettings):
    """Base of what the files of detectors hold: each states its own thresholds, and where they come from."""

    sees_pixels_alone: ClassVar[bool] = False
    """Whether what it finds depends on nothing but its file, its weights and the picture."""

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

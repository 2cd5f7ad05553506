"""What the file of a model holds, and what a model cannot be used without."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from virl.platform.perception.base import Role
from virl.settings import Settings


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
    pip: str = ""
    """What to give to `pip install` for the packages, where no extra brings them."""
    clash: str = ""
    """Why the packages that are installed do not work together, and what to do; empty if they do."""

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

    def needs(self) -> Needs:
        """What the model cannot be used without."""
        return Needs()

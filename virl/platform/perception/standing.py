"""Whether a model would load now, and if not, what to do."""

from collections.abc import Iterator
from dataclasses import dataclass

from virl.errors import ModelUnavailable, VirlError
from virl.extras import missing_packages
from virl.platform.perception.base import Role
from virl.platform.perception.models import read_model
from virl.platform.perception.registry import Needs
from virl.platform.perception.weights import find_checkpoint, missing_checkpoint


@dataclass(frozen=True, slots=True)
class Need:
    """One requirement of a model, and whether it is met."""

    what: str
    """Name of the requirement, such as `"torch + transformers"`."""
    fault: str = ""
    """Fault of the requirement in words; empty if it is met."""
    remedy: str = ""
    """Remedy of the fault in words; may be empty."""
    can_download: bool = False
    """True where `--allow-downloads` meets the requirement."""

    @property
    def lacks(self) -> str:
        """Fault and remedy in one line; empty if the requirement is met."""
        return f"{self.fault}: {self.remedy}" if self.remedy else self.fault

    def blocks(self, *, allow_downloads: bool) -> bool:
        """Return whether the requirement bars a model: it is unmet, and no allowed download meets it."""
        return bool(self.fault) and not (allow_downloads and self.can_download)


@dataclass(frozen=True, slots=True)
class ModelReadiness:
    """The requirements of a model on this machine, and which of them are met."""

    role: Role
    """Role of the model."""
    name: str
    """Name of the model."""
    kind: str
    """Kind of the model; empty if its file cannot be read."""
    needs: tuple[Need, ...]
    """Requirements of the model, met or not."""
    paper: str = ""
    """Figures that a paper reports of the model; empty for none."""

    @property
    def is_ready(self) -> bool:
        """Return whether all requirements are met; the weights may still be of a wrong type."""
        return not any(need.lacks for need in self.needs)


def model_readiness(role: Role, name: str, *, above: tuple[tuple[Role, str], ...] = ()) -> ModelReadiness:
    """Return a model's requirements and which are met, loading no weights; `above`: models that use it.

    Args:
        role: of the model.
        name: of the model.
        above: (role, name) of the models that use it, none of which it may use.
    """
    try:
        settings = read_model(role, name)
        needs = settings.needs()
        found = (*_own_needs(needs), *_model_needs(needs, (*above, (role, name))))
        return ModelReadiness(role, name, settings.kind, found, settings.paper)
    except VirlError as fault:
        return ModelReadiness(role, name, "", (Need("its file", str(fault)),))


def check_ready(role: Role, name: str, *, allow_downloads: bool) -> None:
    """Raise `ModelUnavailable` for a model whose requirements are not met; no weights are loaded.

    Args:
        role: of the model.
        name: of the model.
        allow_downloads: whether weights may be fetched.

    Raises:
        UnknownName: there is no such model.
        ModelUnavailable: something that the model needs is missing, other than weights that may be fetched.
    """
    read_model(role, name)
    for need in model_readiness(role, name).needs:
        if need.blocks(allow_downloads=allow_downloads):
            raise ModelUnavailable(f"{role} {name}: {need.lacks}")


def check_without_truth(role: Role, name: str) -> None:
    """Raise `ModelUnavailable` if a model, or one it uses, needs ground truth.

    Raises:
        ModelUnavailable: the model, or one that it uses, needs ground truth.
    """
    models = [(role, name)]  # grows while it is read
    for model in models:
        needs = read_model(*model).needs()
        if needs.truth:
            raise ModelUnavailable(needs.truth)
        models += [other for other in needs.models if other not in models]


def _own_needs(needs: Needs) -> Iterator[Need]:
    """Yield a model's requirements other than models: packages, files and weights."""
    if needs.packages:
        missing = " and ".join(missing_packages(needs.packages))
        what = " + ".join(needs.packages)
        install = f"pip install {needs.install or ' '.join(needs.packages)}"
        yield Need(what, f"{missing} not installed", install) if missing else Need(what)
    for path in needs.files:
        yield Need(str(path)) if path.exists() else Need(str(path), f"{path} is missing", "put it there")
    for source in needs.weights:
        lack = ("", "") if find_checkpoint(source) else missing_checkpoint(source)
        yield Need(f"weights {source}", *lack, can_download=True)
    if needs.clash:
        yield Need("packages that work together", needs.clash)


def _model_needs(needs: Needs, above: tuple[tuple[Role, str], ...]) -> Iterator[Need]:
    """Yield the other models that a model needs, as requirements; `above` has the models that use it."""
    for role, name in (*needs.models, *needs.drawn):
        if (role, name) in above:
            yield Need(f"{role} {name}", f"{role} {name!r} uses itself", "name another model in its file")
        else:
            # One installation brings all packages of an extra: it is told once.
            lacking = list(
                {
                    need.remedy if need.remedy.startswith("pip") else need.lacks: need
                    for need in model_readiness(role, name, above=above).needs
                    if need.fault
                }.values()
            )
            one = lacking[0] if len(lacking) == 1 else Need("", "; ".join(need.lacks for need in lacking))
            yield Need(f"{role} {name}", one.fault, one.remedy)

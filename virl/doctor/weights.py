"""The models of `platform/models`: which of them can be used on this machine."""

from collections.abc import Iterator
from typing import get_args

from virl.doctor.findings import Finding
from virl.platform.perception.models import model_names
from virl.platform.perception.registry import Role
from virl.platform.perception.standing import ModelReadiness, standing

_FOR = "perception (see virl models)"


def models() -> Iterator[Finding]:
    """The models that can be used, and those that cannot, by what they lack first."""
    names: dict[str, list[str]] = {}
    roles: tuple[Role, ...] = get_args(Role)
    for role in roles:
        for name in model_names(role):
            names.setdefault(_first_lack(standing(role, name)), []).append(name)
    for lack, those in names.items():
        if lack:
            detail, _, remedy = lack.partition(": ")
            yield Finding("models", "missing", f"{', '.join(those)}: {detail}", _FOR, remedy)
        else:
            yield Finding("models that are ready", "ok", ", ".join(those), _FOR)


def _first_lack(model: ModelReadiness) -> str:
    """What is wrong and what to do, in a line; empty if the model is ready."""
    return next((need.lacks for need in model.needs if need.lacks), "")

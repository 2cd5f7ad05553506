"""`virl models NAME`: what one model is, what to install for it, and where its weights go."""

from typing import Any

from virl.cli.listing import print_json
from virl.cli.model_trial import role_of
from virl.console import echo
from virl.platform.perception.models import model_file, read_model
from virl.platform.perception.registry import DetectorSettings
from virl.platform.perception.standing import model_readiness
from virl.platform.perception.weights import find_checkpoint, models_home


def tell_details(name: str, *, as_json: bool) -> None:
    """Print them.

    Raises:
        UnknownName: there is no such model.
    """
    told = _details(name)
    if as_json:
        print_json(told)
        return
    echo(f"{told['role']} {name}: {'ready' if told['ready'] else 'not ready'}")
    for heading in ("file", "kind", "paper", "install", "first look", "second look"):
        if told[heading] != "":
            echo(f"  {heading:12} {told[heading]}")
    for label, (first, second) in told["by label"].items():
        echo(f"  {'by label':12} {label}: {first}, then {second}")
    for source, path in told["weights"].items():
        echo(f"  {'weights':12} {source}: {path}")
    for lack in told["lacks"]:
        echo(f"  {'missing':12} {lack}")
    echo(f"  {'try it':12} virl models --try {name}")


def _details(name: str) -> dict[str, Any]:
    role = role_of(name)
    settings, stands = read_model(role, name), model_readiness(role, name)
    needs = settings.needs()
    looks = settings.look_scores if isinstance(settings, DetectorSettings) else None
    return {
        "role": role,
        "name": name,
        "kind": settings.kind,
        "file": str(model_file(name)),
        "paper": settings.paper,
        "ready": stands.is_ready,
        "install": f"pip install {needs.install}" if needs.install else "",
        "first look": looks.first if looks else "",
        "second look": looks.second if looks else "",
        "by label": {label: [one.first, one.second] for label, one in looks.by_label.items()}
        if looks
        else {},
        "weights": {
            source: str(find_checkpoint(source) or models_home() / source) for source in needs.weights
        },
        "lacks": [need.lacks for need in stands.needs if need.lacks],
    }

"""What a map tells of a place, in the words of both Places APIs."""

from collections.abc import Mapping

from virl.platform.places import Place
from virl.serve.google.wire import Json

WHEELCHAIR: Mapping[str, bool] = {"yes": True, "designated": True, "no": False}
"""Google knows no place that is accessible in part."""


def phone(place: Place) -> str | None:
    """The first number, as it is mapped."""
    return _fact(place, "phone").partition(",")[0] or None


def international_phone(place: Place) -> str | None:
    """The first number, if its country is mapped."""
    number = phone(place)
    return number if number and number.startswith("+") else None


def website(place: Place) -> str | None:
    """The address of its page, with a scheme."""
    address = _fact(place, "website")
    if not address:
        return None
    return address if "://" in address else f"http://{address}"


def has_step_free_entrance(place: Place) -> bool | None:
    """Whether a wheelchair gets in; `None` where nobody says, or it does in part."""
    return WHEELCHAIR.get(_fact(place, "wheelchair"))


def accessibility(place: Place) -> Json | None:
    """Google's object of what is accessible."""
    known = has_step_free_entrance(place)
    return None if known is None else {"wheelchairAccessibleEntrance": known}


def serves_vegetarian(place: Place) -> bool | None:
    """Whether it has dishes for vegetarians; `None` where nobody says."""
    said = dict(part.rsplit(" ", 1) for part in _fact(place, "diet").split(", ") if " " in part)
    answers = {said.get(kind) for kind in ("vegetarian", "vegan")}
    if answers & {"yes", "only"}:
        return True
    return False if said.get("vegetarian") == "no" else None


def _fact(place: Place, name: str) -> str:
    return dict(place.facts).get(name, "")

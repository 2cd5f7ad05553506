"""Movers by name."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from virl.errors import BadInput, UnknownName, choices
from virl.platform.city.city import City, MoverChoice
from virl.platform.city.streetview import Panorama, StreetView
from virl.platform.movers.base import LinksMover, Mover
from virl.platform.movers.grid import GridMover, HybridMover, Rings
from virl.platform.providers.cities import city_settings
from virl.platform.providers.provider import provider_of

if TYPE_CHECKING:
    from virl.platform.movers.web import WebSettings

MOVERS = ("links", "grid", "web", "hybrid")
"""Names of the movers that a walk can use."""


def fit_mover(city: City, start: Panorama, asked: str | None = None) -> MoverChoice:
    """Return the mover's name for a walk, with the reason: the one asked for, or one that suits the city.

    Args:
        city: city that may have a mover of its own for each place.
        start: panorama where the walk begins.
        asked: name of a mover; `None` to choose.

    Raises:
        BadInput: the mover asked for does not work there.
    """
    if city.capabilities.fit_mover is not None:
        return city.capabilities.fit_mover(start, asked)
    return MoverChoice(asked or "links", "you asked for it" if asked else "")


@contextmanager
def open_mover(
    name: str,
    streetview: StreetView,
    *,
    rings: Rings | None = None,
    web: "WebSettings | None" = None,
    first: Literal["links", "web"] = "links",
) -> Iterator[Mover]:
    """Yield the mover of a name, where `hybrid` asks `first` before the grid; close its browser at the end.

    Args:
        name: `"links"`, `"grid"`, `"web"` or `"hybrid"`.
        streetview: street view through which it moves.
        rings: positions that `grid` and `hybrid` ask around a pose; V-IRL's by default.
        web: settings of the page of `web`; from the environment by default.
        first: the mover that `hybrid` asks before the grid.

    Raises:
        UnknownName: there is no such mover.
    """
    if name == "links":
        yield LinksMover(streetview)
    elif name == "grid":
        yield GridMover(streetview, rings)
    elif name == "web":
        from virl.platform.movers.web import WebMover  # noqa: PLC0415 - brings in what drives a browser

        with WebMover(streetview, web) as mover:
            yield mover
    elif name == "hybrid":
        with open_mover(first, streetview, web=web) as before:
            yield HybridMover(before, GridMover(streetview, rings))
    else:
        raise UnknownName("mover", name, list(MOVERS))


def planned_mover(city: str, asked: str | None = None) -> MoverChoice:
    """Return the mover for a city before it is opened, with the reason: the one asked for, or one that fits.

    Raises:
        UnknownName: there is no such mover.
        BadInput: it does not work there.
    """
    file = city_settings(city)
    fit = file.mover or MoverChoice(provider_of(file).mover, "")
    if asked and asked not in MOVERS:
        raise UnknownName("mover", asked, list(MOVERS))
    if asked and fit.works and asked not in fit.works:
        raise BadInput(f"mover {asked!r} does not work in {city} ({fit.reason}): {choices(fit.works)}")
    return MoverChoice(asked, "you asked for it", fit.works) if asked else fit

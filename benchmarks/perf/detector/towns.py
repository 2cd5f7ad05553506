"""The towns that training looks at: none is Virlton, Helsinki, Vaduz or another that a benchmark uses."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from virl.geo.globe import Floats
from virl.osm.mapped import read_twin
from virl.platform.providers.offline.city import draw_plan
from virl.platform.providers.osm.city_file import city_of_path
from virl.towns.plan.town_plan import CityPlan
from virl.towns.render.renderer import CityRenderer

_MADE = tuple(str(seed) for seed in range(101, 114))
_TWINS = (
    "moscow.osm.gz",
    "liechtenstein.osm.pbf@47.165,9.509,700",
    "liechtenstein.osm.pbf@47.107,9.528,600",
    "liechtenstein.osm.pbf@47.066,9.505,600",
)
"""Extracts of a quarter of Moscow, Schaan, Triesen and Balzers, with the middle to read around."""

VIRLTON, HELD_OUT = "1", "202"
"""Seeds of the made towns that scores are taken in: Virlton, and one that no training or benchmark uses."""


@dataclass(frozen=True, slots=True)
class Scenery:
    """A town from which views are drawn, and the positions of its panoramas."""

    renderer: CityRenderer
    cameras: Floats
    """Positions of panoramas, metres (east, north), shape (n, 2)."""


def training_towns(extracts: Path | None) -> tuple[str, ...]:
    """Return the towns to train on: thirteen made ones, mixed with four real ones if `extracts` is given."""
    if extracts is None:
        return _MADE
    towns: list[str] = []
    for number, town in enumerate(_MADE, 1):
        towns.append(town)
        if number % 2 == 0 and number // 2 <= len(_TWINS):
            towns.append(str(extracts / _TWINS[number // 2 - 1]))
    return tuple(towns)


def open_ground(town: str) -> Scenery:
    """Return the scenery of a town, given as a seed such as `"101"` or as an OpenStreetMap extract.

    Raises:
        BadInput: the extract cannot be read.
    """
    plan: CityPlan = (
        draw_plan(int(town), f"Town {town}")
        if town.isdecimal()
        else read_twin(city_of_path(town).extract_part).plan
    )
    # With people and traffic, as in the towns that virl opens.
    return Scenery(CityRenderer(replace(plan, crowd=1.0)), np.asarray(plan.layout.panoramas.xy))

"""The page of a town: one HTML file that needs nothing beside itself."""

from dataclasses import dataclass
from pathlib import Path

from virl.drawing.page import draw_exhibits
from virl.drawing.paper import Point
from virl.files import write_whole
from virl.geo import compass_word
from virl.journal.page import page
from virl.platform.city import City
from virl.town.facts import town_facts
from virl.town.town_map import TownMap, town_map
from virl.town.views import TownView, town_views
from virl.version import __version__

_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class _Placed:
    """A view with its place on the map."""

    view: TownView
    at: Point
    title: str
    """Its street and the way it looks."""


def write_town(city: City, out: Path, views: int = 10, seed: int = 0) -> int:
    """Write the page of a city that is held whole.

    Args:
        city: made, of OpenStreetMap, or of a graph data set.
        out: where the page goes.
        views: how many views it shows, at most; a city without pictures has none.
        seed: chooses the views, any non-negative integer.

    Returns:
        How many views it shows.

    Raises:
        BadInput: the city is asked over a network.
        CannotWrite: the page cannot be written.
    """
    facts = town_facts(city)
    shown = town_views(city, views, seed)
    ground = town_map(city)
    html = page(
        "town.html.j2",
        {
            "city": city,
            "facts": facts,
            "exhibits": draw_exhibits(facts.exhibits, ()),
            "map": ground,
            "views": [_placed(ground, view) for view in shown],
            "asked": views,
            "seed": seed,
            "version": __version__,
        },
        styles=("exhibits.css", "town.css"),
        scripts=("maps.js", "tables.js"),
        folder=_TEMPLATES,
    )
    write_whole(out, html.encode("utf-8", "replace"), "choose another --out")
    return len(shown)


def _placed(ground: TownMap, view: TownView) -> _Placed:
    way = f"looking {compass_word(view.camera.heading)}"
    title = f"{view.street}, {way}" if view.street else way.capitalize()
    return _Placed(view, ground.paper.place(view.panorama.position), title)

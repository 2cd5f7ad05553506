"""The page of a town with its statistics and views: one HTML file that needs nothing beside itself."""

import base64
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import PIL.Image
import shapely
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from virl.errors import NoImagery
from virl.files.writing import write_whole
from virl.geo.globe import LocalFrame, compass_word, distance
from virl.journal.report import page
from virl.journal.walk_map import ground_of
from virl.pages.exhibits import Bar, BarsExhibit, Exhibit, TableExhibit
from virl.pages.ground import MapGround
from virl.pages.maps import MapFigure, Mark, map_figure
from virl.pages.page import draw_exhibits
from virl.pages.paper import Extent, Paper, lay_out
from virl.plain_text import shorten
from virl.platform.city.city import City
from virl.platform.city.interchange import held_street_map, streets_at
from virl.platform.city.inventory import CityStatistics
from virl.platform.city.left_out import MOST_REASONS
from virl.platform.city.streetview import Camera, Image, Panorama
from virl.version import __version__

# All chosen.
CANDIDATES = 12  # of these, each new view takes the one farthest from the views before it
HOUSE_M = 40.0  # a panorama with a house so near is in a built-up street
OPEN_LAND = 0.3  # what a metre between views counts where there is none: a country shows its villages too
WIDTH, HEIGHT = 640, 480
FOV, PITCH = 90.0, 4.0
TURNED = 35.0  # degrees from the way along the street, so that one of its sides fills the view
QUALITY = 82  # of JPEG


@dataclass(frozen=True, slots=True)
class TownView:
    """A view of a town with its panorama, camera and street."""

    panorama: Panorama
    camera: Camera
    street: str
    """Name of the street; empty if it is unknown."""
    pixels: Image
    """Picture of the view."""

    @property
    def data(self) -> str:
        """Picture as a data URI."""
        file = io.BytesIO()
        PIL.Image.fromarray(self.pixels).save(file, "JPEG", quality=QUALITY, optimize=True)
        return "data:image/jpeg;base64," + base64.b64encode(file.getvalue()).decode()


def town_views(city: City, count: int, seed: int) -> list[TownView]:
    """Return `count` views spread over a city, from north to south; the same seed gives the same views.

    Empty if the city has no pictures; a panorama whose own picture is missing is left out.

    Args:
        city: held whole.
        count: how many, at most.
        seed: any non-negative integer.
    """
    rng = Random(seed)
    chosen = sorted(_spread(city, count, rng), key=lambda one: (-one.position.lat, one.position.lng))
    streets = streets_at([one.position for one in chosen], city.mapped_streets)
    drawn = []
    for panorama, street in zip(chosen, streets, strict=True):
        along = rng.choice([link.heading for link in panorama.links] or [panorama.heading])
        camera = Camera(along + rng.choice((-TURNED, TURNED)), PITCH, FOV, WIDTH, HEIGHT)
        try:
            pixels = city.streetview.view(panorama.id, camera).pixels
        except NoImagery:
            continue
        drawn.append(TownView(panorama, camera, street.name if street else "", pixels))
    return drawn


def _spread(city: City, count: int, rng: Random) -> Iterator[Panorama]:
    """Yield panoramas far apart from each other (Mitchell's best candidate)."""
    names = held_street_map(city).panorama_ids()
    drawn = rng.sample(names, min(len(names), count * CANDIDATES))
    left = [city.streetview.panorama(name) for name in drawn]
    weight = dict(zip(drawn, _weights(city, left), strict=True))
    chosen: list[Panorama] = []
    while left and len(chosen) < count:
        best = max(
            left[:CANDIDATES],
            key=lambda one: (
                weight[one.id]
                * min((distance(one.position, other.position) for other in chosen), default=1.0)
            ),
        )
        left.remove(best)
        chosen.append(best)
    yield from chosen


def _weights(city: City, panoramas: Sequence[Panorama]) -> list[float]:
    """Return for each panorama a weight of its distance to other views, lower if no house is near."""
    if not city.inventory or not panoramas:
        return [1.0] * len(panoramas)
    frame = LocalFrame(city.center)
    middles = shapely.get_coordinates(
        [shapely.centroid(house.outline) for house in city.inventory.houses()]
    ).reshape(-1, 2)
    points = np.asarray(shapely.points(np.column_stack(frame.to_metres(middles[:, 1], middles[:, 0]))))
    houses = shapely.STRtree(points)
    where = shapely.points([frame.point(one.position) for one in panoramas])
    built_up = set(houses.query(where, predicate="dwithin", distance=HOUSE_M)[0].tolist())
    return [1.0 if number in built_up else OPEN_LAND for number in range(len(panoramas))]


_MOST_TYPES = 20
_MOST_TAGS = 20
_MOST_HOURS = 20
_LONGEST_HOURS = 200
"""Most characters of opening hours that are shown."""
_LONGEST_REASON = 120
"""Most characters of a reason that are shown."""
Fact = tuple[str, str]
"""A fact as (name, amount in words)."""
# The looks of the map, all chosen.
ACROSS_PX = 820.0
ASPECTS = (0.85, 2.0)
MARGIN = 0.02  # of the town's longer side
_TEMPLATES = Path(__file__).parent / "templates"


def town_map(city: City, views: Sequence[TownView] = ()) -> MapFigure:
    """Return the map of a city that is held whole, with the views on it.

    Args:
        city: with at least one street.
        views: shown with the way they look; each leads to its picture.
    """
    frame, inventory = LocalFrame(city.center), city.inventory
    shown = [position for line in held_street_map(city).lines() if len(line) > 1 for position in line]
    shown += [view.panorama.position for view in views]
    degrees = np.array(shown)
    x, y = frame.to_metres(degrees[:, 0], degrees[:, 1])
    corners = [(float(x.min()), -float(y.max())), (float(x.max()), -float(y.min()))]
    wide, high = np.ptp(x), np.ptp(y)
    aspect = float(np.clip(wide / max(high, 1.0), *ASPECTS))
    extent = Extent(aspect=aspect, margin_m=20.0 + MARGIN * float(max(wide, high)), beyond=0.0, scale=1 / 6)
    places = [place.position for place in inventory.places()] if inventory else []
    ground = replace(ground_of(city), dots=places)
    paper = lay_out(frame, corners, ground, extent=extent, across=ACROSS_PX)
    kinds = {layer.kind for layer in paper.layers}
    legend = [("view", "view, and where it looks")] * bool(views)
    legend += [(kind, word) for kind, word in (("dots", "place"), ("house", "house")) if kind in kinds]
    return map_figure(
        f"Map of {city.title}",
        paper,
        (),
        [view_mark(paper, number, view) for number, view in enumerate(views, 1)],
        legend=legend,
        notice=city.notice,
    )


def view_mark(paper: Paper, number: int, view: TownView) -> Mark:
    """Return the mark of a view on the map, with its number and heading.

    Args:
        paper: of the map.
        number: of the view, from 1.
        view: with its panorama.
    """
    return Mark(
        *paper.place(view.panorama.position),
        "view",
        f"View {number}: {_title(view)}",
        sign=str(number),
        href=f"#view-{number}",
        heading=view.camera.heading,
    )


def _title(view: TownView) -> str:
    """Return a view's street and heading in words."""
    way = f"looking {compass_word(view.camera.heading)}"
    return f"{view.street}, {way}" if view.street else way.capitalize()


def write_town(city: City, out: Path, views: int = 10, seed: int = 0) -> int:
    """Write the HTML page of a city that is held whole; return the number of its views.

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
    html = page(
        "town.html.j2",
        {
            "city": city,
            "facts": facts,
            "exhibits": draw_exhibits(facts.exhibits, MapGround()),
            "map": town_map(city, shown),
            "views": [(_title(view), view) for view in shown],
            "asked": views,
            "seed": seed,
            "version": __version__,
        },
        styles=("charts.css", "exhibits.css"),
        scripts=("maps.js", "tables.js"),
        folder=_TEMPLATES,
    )
    write_whole(out, html.encode("utf-8", "replace"), "choose another --out")
    return len(shown)


@dataclass(frozen=True, slots=True)
class TownFacts:
    """The facts about a town that its page shows."""

    streets: tuple[Fact, ...]
    holdings: tuple[Fact, ...]
    """Facts on houses, places and their hours; empty if they were not counted."""
    exhibits: tuple[Exhibit, ...]


def town_facts(city: City) -> TownFacts:
    """Return the facts about a city that is held whole."""
    known = city.inventory.statistics() if city.inventory else None
    return TownFacts(
        tuple(_streets(city, known)),
        tuple(_holdings(known)) if known else (),
        tuple(_exhibits(known)) if known else (),
    )


def town_summary(city: City) -> dict[str, Any]:
    """Return the contents of a city's page as plain data for JSON.

    Raises:
        BadInput: the city is asked over a network.
    """
    known = city.inventory.statistics() if city.inventory else None
    omissions = known.left_out if known else city.left_out.omissions()
    return {
        "city": city.name,
        "title": city.title,
        "center": list(city.center),
        "time_zone": city.time_zone,
        "panoramas": len(held_street_map(city).panorama_ids()),
        "statistics": {name: told for name, told in asdict(known).items() if name != "left_out"}
        if known
        else None,
        "left_out": [
            {"kind": one.source, "count": one.count, "first": list(one.reasons)} for one in omissions
        ],
    }


def _streets(city: City, known: CityStatistics | None) -> Iterator[Fact]:
    """Yield the facts on area, streets and panoramas."""
    street_map = held_street_map(city)
    if known:
        yield "Area", f"{known.area_m2 / 1e6:,.2f} km²"
        if known.water_m2 is not None and known.area_m2:
            yield (
                "Water",
                f"{known.water_m2 / 1e6:,.2f} km² ({known.water_m2 / known.area_m2:.1%})".replace("%", " %"),
            )
        yield "Streets", _kilometres(known.street_m)
    else:
        lines = street_map.lines()
        yield "Streets", _kilometres(sum(sum(map(distance, line, line[1:])) for line in lines))
    if known and known.mapped_m is not None:
        yield "Mapped streets and paths", _kilometres(known.mapped_m)
        for reason, metres in known.dropped_m.items():
            yield f"Left out: {reason}", _kilometres(metres)
        for what, metres in known.drawn_m.items():
            yield f"Drawn level: {what}", _kilometres(metres)
    count, largest = _count_connected(city)
    yield "Panoramas", f"{count:,}"
    yield "In the largest connected part", _share(largest, count)


def _count_connected(city: City) -> tuple[int, int]:
    """Return (number of panoramas, number in the largest connected part)."""
    names = held_street_map(city).panorama_ids()
    number = {name: index for index, name in enumerate(names)}
    links = [
        (index, number[link.pano_id])
        for name, index in number.items()
        for link in city.streetview.panorama(name).links
    ]
    source, target = np.array(links, np.int64).reshape(-1, 2).T
    linked = coo_array((np.ones(len(source)), (source, target)), shape=(len(names), len(names)))
    _, part = connected_components(linked, directed=False)
    return len(names), int(np.bincount(part).max())


def _holdings(known: CityStatistics) -> Iterator[Fact]:
    """Yield the facts on houses, places and furniture."""
    yield "Houses", f"{known.houses:,}"
    if known.houses_in_water is not None:
        yield "Houses in water (boathouses, on piers)", f"{known.houses_in_water:,}"
    if known.houses_with_height is not None:
        yield "Houses with a mapped height", _share(known.houses_with_height, known.houses)
    if known.parts is not None:
        yield "Parts of houses", f"{known.parts:,}"
    yield "Places", f"{known.places:,}"
    unsigned = known.places - known.places_with_sign - known.places_on_directory
    yield "With a sign of their own", _share(known.places_with_sign, known.places)
    yield "On the directory of a building", _share(known.places_on_directory, known.places)
    yield "Without a sign", _share(unsigned, known.places)
    if known.hours_read is not None:
        yield "With opening hours", _share(known.hours_read, known.places)
    if known.hours_unread is not None:
        yield "Opening hours that cannot be read", f"{known.hours_unread:,}"
    yield "Street furniture", f"{sum(known.furniture.values()):,}"
    if known.filled:
        yield "Trees and cars from a seed", f"{sum(known.filled.values()):,}"
    if known.parts is not None:
        yield "Heights that cannot be read", f"{sum(known.heights_unread.values()):,}"
        yield "Colours and materials that cannot be read", f"{sum(known.looks_unread.values()):,}"
    if known.incomplete is not None:
        yield "Left out: incomplete or broken objects", f"{known.incomplete:,}"


def _exhibits(known: CityStatistics) -> Iterator[Exhibit]:
    """Yield charts and tables of what a town has."""
    if known.places_by_type:
        kinds = len(known.places_by_type)
        few = f": the {_MOST_TYPES} most frequent of {kinds}" if kinds > _MOST_TYPES else ""
        yield _bars(f"Places by type{few}", "places", known.places_by_type)
    if known.unmapped:
        rows = tuple(known.unmapped.items())
        left = len(rows) - _MOST_TAGS
        yield TableExhibit(
            title="Tags without a type of their own",
            columns=("tag", "places"),
            rows=rows[:_MOST_TAGS],
            note="Places with these tags get a general type, such as store."
            + (f" {left} rarer tags are not shown." if left > 0 else ""),
        )
    if known.unread:
        left = len(known.unread) - _MOST_HOURS
        yield TableExhibit(
            title="Opening hours that cannot be read",
            columns=("place", "opening hours as mapped"),
            rows=tuple((name, shorten(text, _LONGEST_HOURS)) for name, text in known.unread[:_MOST_HOURS]),
            note="virl says that the hours of these places are unknown."
            + (f" And {left} more." if left > 0 else ""),
        )
    if known.heights_unread:
        note = "These houses are as high as their neighbours, or as is usual for their kind."
        yield _unread_tags("Heights that cannot be read", known.heights_unread, note)
    if known.left_out:
        named = tuple(
            (one.source, one.count, "; ".join(shorten(reason, _LONGEST_REASON) for reason in one.reasons))
            for one in known.left_out
        )
        yield TableExhibit(
            title="Mapped objects that cannot be used, wholly or in part",
            columns=("kind", "how many", "the first ones"),
            rows=named,
            note=f"Of each kind, at most {MOST_REASONS} are named. `virl town CITY --json` gives them too.",
        )
    if known.looks_unread:
        note = "These houses look like others of their kind and town."
        yield _unread_tags("Colours and materials that cannot be read", known.looks_unread, note)
    if known.furniture:
        yield _bars("Street furniture", "things", known.furniture)
    if known.filled:
        yield _bars("Trees and cars from a seed", "things", known.filled)


def _unread_tags(title: str, tags: Mapping[str, int], note: str) -> TableExhibit:
    """Return a table of map tags that virl could not read, with their counts."""
    rows = tuple((shorten(tag, _LONGEST_HOURS), count) for tag, count in tags.items())[:_MOST_TAGS]
    return TableExhibit(title=title, columns=("tag", "houses"), rows=rows, note=note)


def _bars(title: str, unit: str, counts: Mapping[str, int]) -> BarsExhibit:
    """Return counts as a bar chart, with at most `_MOST_TYPES` bars."""
    shown = list(counts.items())[:_MOST_TYPES]
    bars = tuple(Bar(label=label.replace("_", " "), value=count) for label, count in shown)
    return BarsExhibit(title=title, unit=unit, bars=bars)


def _kilometres(metres: float) -> str:
    """Return metres as text in kilometres."""
    return f"{metres / 1000:,.2f} km" if metres >= 5 or metres == 0 else "less than 0.01 km"


def _share(part: int, whole: int) -> str:
    """Return a part as text, with its share of the whole in percent."""
    return f"{part:,} ({part / whole:.1%})".replace("%", " %") if whole else f"{part:,}"

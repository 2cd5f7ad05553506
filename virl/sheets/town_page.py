"""The page of a town with its statistics, map and views: one HTML file without references to others."""

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
from virl.pages.pictures import jpeg_uri
from virl.plain_text import shorten
from virl.platform.city.city import City
from virl.platform.city.interchange import held_street_map, streets_at
from virl.platform.city.inventory import CityStatistics
from virl.platform.city.left_out import MOST_REASONS
from virl.platform.city.streetview import Camera, Image, Panorama
from virl.version import __version__

# All chosen.
CANDIDATES = 12  # panoramas of which each new view takes the one farthest from the views before it
HOUSE_M = 40.0  # a panorama with a house within this distance is in a built-up street
OPEN_LAND = 0.3  # weight of distances without such a house, so that a country shows its villages too
WIDTH, HEIGHT = 640, 480  # pixels
FOV, PITCH = 90.0, 4.0  # degrees
TURNED = 35.0  # degrees from the direction of the street, so that one of its sides fills the view
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
        """Picture of the view as a JPEG data URI."""
        return jpeg_uri(PIL.Image.fromarray(self.pixels), QUALITY)


def town_views(city: City, count: int, seed: int) -> list[TownView]:
    """Return at most `count` views spread over a city, from north to south; a seed always gives the same.

    Empty if the city has no pictures; a panorama whose own picture is missing is left out.

    Args:
        city: a city with a street map that is held whole.
        count: the number of panoramas to choose.
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
    """Yield at most `count` panoramas of a city far apart from each other (Mitchell's best candidate)."""
    names = held_street_map(city).panorama_ids()
    # A sample: a large town has more panoramas than can be compared with each other.
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
    """Return the weight of each panorama's distance to other views: 1 near a house, else `OPEN_LAND`."""
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


_MOST_TYPES = _MOST_TAGS = _MOST_HOURS = 20  # bars of a chart, or rows of a table; chosen
_LONGEST_HOURS = 200
"""Most characters of opening hours that are shown."""
_LONGEST_REASON = 120
"""Most characters of a reason that are shown."""
Fact = tuple[str, str]
"""A fact as (name, amount in words)."""
# The looks of the map, all chosen.
ACROSS_PX = 820.0  # pixels across the map
ASPECTS = (0.85, 2.0)  # least and greatest ratio of width to height
MARGIN = 0.02  # share of the town's longer side
_TEMPLATES = Path(__file__).parent / "templates"


def town_map(city: City, views: Sequence[TownView] = ()) -> MapFigure:
    """Return the map of a city whose street map is in memory, with a mark for each view that links to it."""
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
        paper: the paper of the map.
        number: the number of the view, from 1.
        view: the view.
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
    """Return a view's street and compass direction as a title, such as "Oak Street, looking north"."""
    way = f"looking {compass_word(view.camera.heading)}"
    return f"{view.street}, {way}" if view.street else way.capitalize()


def write_town(city: City, out: Path, views: int = 10, seed: int = 0) -> int:
    """Write the HTML page of a city whose whole street map is in memory; return the number of its views.

    Args:
        city: a made town, a twin of OpenStreetMap, or a graph data set.
        out: the path of the page.
        views: the most views that it shows; a city without pictures has none.
        seed: the seed by which views are chosen, any non-negative integer.

    Raises:
        BadInput: the city is fetched over a network.
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
    """Facts on area, streets and panoramas."""
    holdings: tuple[Fact, ...]
    """Facts on houses, places and their hours; empty if they were not counted."""
    exhibits: tuple[Exhibit, ...]
    """Charts and tables; empty if nothing was counted."""


def town_facts(city: City) -> TownFacts:
    """Return the facts about a city whose whole street map is in memory."""
    known = city.inventory.statistics() if city.inventory else None
    return TownFacts(
        tuple(_street_facts(city, known)),
        tuple(_inventory_facts(known)) if known else (),
        tuple(_exhibits(known)) if known else (),
    )


def town_summary(city: City) -> dict[str, Any]:
    """Return the contents of a city's page as plain data for JSON.

    Raises:
        BadInput: the city is fetched over a network.
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


def _street_facts(city: City, known: CityStatistics | None) -> Iterator[Fact]:
    """Yield the facts on area, streets and panoramas; `known` is `None` for a city without statistics."""
    street_map = held_street_map(city)
    if known:
        yield "Area", f"{known.area_m2 / 1e6:,.2f} km²"
        if known.water_m2 is not None and known.area_m2:
            share = f"{known.water_m2 / known.area_m2:.1%}".replace("%", " %")
            yield "Water", f"{known.water_m2 / 1e6:,.2f} km² ({share})"
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
    """Return (number of panoramas, number of those in the largest connected part) of a city."""
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


def _inventory_facts(known: CityStatistics) -> Iterator[Fact]:
    """Yield the facts on houses, places, opening hours and street furniture."""
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
    """Yield the charts and tables of a town's statistics, without those that would be empty."""
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
    """Return a table of up to `_MOST_TAGS` unread map tags, with numbers of houses; `note`: shown below."""
    rows = tuple((shorten(tag, _LONGEST_HOURS), count) for tag, count in tags.items())[:_MOST_TAGS]
    return TableExhibit(title=title, columns=("tag", "houses"), rows=rows, note=note)


def _bars(title: str, unit: str, counts: Mapping[str, int]) -> BarsExhibit:
    """Return counts by name as a bar chart with the first `_MOST_TYPES` bars; `unit` is a plural noun."""
    shown = list(counts.items())[:_MOST_TYPES]
    bars = tuple(Bar(label=label.replace("_", " "), value=count) for label, count in shown)
    return BarsExhibit(title=title, unit=unit, bars=bars)


def _kilometres(metres: float) -> str:
    """Return metres as text in kilometres, such as "1.20 km"."""
    return f"{metres / 1000:,.2f} km" if metres >= 5 or metres == 0 else "less than 0.01 km"


def _share(part: int, whole: int) -> str:
    """Return `part` and its share of `whole` as text, such as "12 (3.4 %)"; no share if `whole` is 0."""
    return f"{part:,} ({part / whole:.1%})".replace("%", " %") if whole else f"{part:,}"

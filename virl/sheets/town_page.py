"""The page of a town with its views, map and statistics: one HTML file without references to others."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from virl.files.writing import write_whole
from virl.geo.globe import LocalFrame, distance
from virl.journal.report import page
from virl.journal.walk_map import ground_of
from virl.pages.exhibits import TableExhibit
from virl.pages.ground import MapGround
from virl.pages.maps import MapFigure, map_figure
from virl.pages.marks import Mark
from virl.pages.numbers import short_number, show_area, show_length
from virl.pages.page import draw_exhibits
from virl.pages.paper import Extent, Paper, lay_out
from virl.plain_text import shorten
from virl.platform.city.city import City
from virl.platform.city.interchange import held_street_map
from virl.platform.city.inventory import CityStatistics
from virl.platform.city.left_out import MOST_REASONS
from virl.sheets.views import TownView, town_views, wide_view
from virl.version import __version__

_MOST_TYPES, _MOST_TAGS, _MOST_HOURS = 12, 20, 20  # rows of lists and tables; chosen
_LONGEST_HOURS = 200
"""Most characters of opening hours that are shown."""
_LONGEST_REASON = 120
"""Most characters of a reason that are shown."""
Fact = tuple[str, str]
"""A fact as (name, amount in words)."""
# The looks of the map, all chosen.
HIGH_PX = 720.0  # height of the map
BESIDE = 1.3  # a town of a lesser ratio of width to height has something beside its map
ACROSS_PX = (728.0, 1104.0)  # pixels across the map: with something beside it, and alone
MARGIN = 0.03  # share of the town's longer side
_TEMPLATES = Path(__file__).parent / "templates"


def town_map(city: City, views: Sequence[TownView] = ()) -> MapFigure:
    """Return the map of a city whose street map is in memory, with a mark for each view that links to it."""
    frame = LocalFrame(city.center)
    shown = [position for line in held_street_map(city).lines() if len(line) > 1 for position in line]
    shown += [view.panorama.position for view in views]
    degrees = np.array(shown)
    x, y = frame.to_metres(degrees[:, 0], degrees[:, 1])
    corners = [(float(x.min()), -float(y.max())), (float(x.max()), -float(y.min()))]
    wide, high = np.ptp(x), np.ptp(y)
    across = ACROSS_PX[bool(wide >= BESIDE * high or not city.inventory)]
    margin = 20.0 + MARGIN * float(max(wide, high))
    extent = Extent(aspect=across / HIGH_PX, margin_m=margin, beyond=0.0, scale=1 / 6)
    paper = lay_out(frame, corners, ground_of(city), extent=extent, across=across)
    return map_figure(
        f"Map of {city.title}",
        paper,
        (),
        [view_mark(paper, number, view) for number, view in enumerate(views, 1)],
        legend=[("view", "view, and where it looks")] * bool(views),
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
        f"View {number}: {view.title}",
        sign=str(number),
        href=f"#view-{number}",
        heading=view.camera.heading,
    )


def write_town(city: City, out: Path, views: int = 6, seed: int = 0, *, called: str = "") -> int:
    """Write the HTML page of a city whose whole street map is in memory; return the number of its views.

    The best view stands at its head, beside those that are counted.

    Args:
        city: a made town, a twin of OpenStreetMap, or a graph data set.
        out: the path of the page.
        views: the most views that it shows; a city without pictures has none.
        seed: the seed by which views are chosen, any non-negative integer.
        called: what commands call the city; its name by default.

    Raises:
        BadInput: the city is fetched over a network.
        CannotWrite: the page cannot be written.
    """
    facts = town_facts(city)
    shown = town_views(city, views + 1 if views else 0, seed)
    if shown:
        best = max(shown, key=lambda view: view.score)
        shown = [wide_view(city, best), *(view for view in shown if view is not best)]
    told = [fact for fact in (*facts.streets, *facts.holdings) if not _NOTHING.match(fact[1])]
    drawn = town_map(city, shown)
    html = page(
        "town.html.j2",
        {
            "city": city,
            "figures": [(name, much) for name in FIGURES for what, much in told if what == name],
            "numbers": [fact for fact in told if fact[0] in NUMBERS],
            "read": [fact for fact in told if fact[0] not in FIGURES + NUMBERS],
            "counts": facts.counts,
            "exhibits": draw_exhibits(facts.exhibits, MapGround()),
            "map": drawn,
            "is_beside": drawn.paper.across == ACROSS_PX[0],
            "things": [
                (what, f"virl run {agent} --city {shlex.quote(called or city.name)}")
                for what, agent in THINGS
            ]
            if city.inventory
            else [],
            "views": shown,
            "asked": views,
            "seed": seed,
            "version": __version__,
        },
        styles=("charts.css", "town.css"),
        scripts=("maps.js", "tables.js", "town.js"),
        folder=_TEMPLATES,
    )
    write_whole(out, html.encode("utf-8", "replace"), "choose another --out")
    return len(shown[1:])


_NOTHING = re.compile(r"0(\.0+)?\b(?![.,]\d)")
"""Amounts that a page leaves out."""
FIGURES = ("Houses", "Places", "Streets", "Panoramas")
"""Names of the facts that stand in large type at the head of the page."""
NUMBERS = ("Area", "Water", "Places with a sign", "With opening hours", "Street furniture")
"""Names of the further facts that tell of the town; all others tell how it was read."""
THINGS = (
    ("Walk until lunch is found", "hiro"),
    ("Run errands in the best order", "peng"),
    ("Count the trash bins along a route", "rx399"),
    ("Reach a place by sight, without a map", "iris"),
    ("Ask a local the way, and follow it", "ling"),
    ("Have a day planned", "diego"),
    ("Hear what the way to the library is like", "noor"),
    ("Be told the way to a bakery in words", "local"),
    ("Map the bins and benches of the whole town", "imani"),
    ("Watch a walk live, and take the wheel", "hiro --watch"),
)
"""Things to do in any town, each as (what, agent with options of `virl run`)."""


@dataclass(frozen=True, slots=True)
class TownFacts:
    """The facts about a town that its page shows."""

    streets: tuple[Fact, ...]
    """Facts on area, streets and panoramas."""
    holdings: tuple[Fact, ...]
    """Facts on houses, places and their hours; empty if they were not counted."""
    counts: tuple[tuple[str, tuple[Fact, ...]], ...]
    """Counts by kind, each as (title, facts); empty if nothing was counted."""
    exhibits: tuple[TableExhibit, ...]
    """Tables of what could not be used; empty if nothing was counted."""


def town_facts(city: City) -> TownFacts:
    """Return the facts about a city whose whole street map is in memory."""
    known = city.inventory.statistics() if city.inventory else None
    return TownFacts(
        tuple(_street_facts(city, known)),
        tuple(_inventory_facts(known)) if known else (),
        tuple(_counts(known)) if known else (),
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
        yield "Area", show_area(known.area_m2)
        if known.water_m2 is not None and known.area_m2:
            share = short_number(100 * known.water_m2 / known.area_m2)
            yield "Water", f"{show_area(known.water_m2)} ({share} %)"
        yield "Streets", show_length(known.street_m)
    else:
        lines = street_map.lines()
        yield "Streets", show_length(sum(sum(map(distance, line, line[1:])) for line in lines))
    if known and known.mapped_m is not None:
        yield "Mapped streets and paths", show_length(known.mapped_m)
        for reason, metres in known.dropped_m.items():
            yield f"Left out: {reason}", show_length(metres)
        for what, metres in known.drawn_m.items():
            yield f"Drawn level: {what}", show_length(metres)
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
    yield "Places with a sign", _share(known.places_with_sign, known.places)
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


def _counts(known: CityStatistics) -> Iterator[tuple[str, tuple[Fact, ...]]]:
    """Yield the lists of counts of a town's statistics, without those that would be empty."""
    for title, counts in (
        ("Trees and cars from a seed", known.filled),
        ("Places by type", known.places_by_type),
        ("Street furniture", known.furniture),
    ):
        shown = [(name.replace("_", " "), f"{count:,}") for name, count in counts.items()]
        left = len(shown) - _MOST_TYPES
        more = [(f"{left} more types", f"{sum(list(counts.values())[_MOST_TYPES:]):,}")] if left > 0 else []
        if shown:
            yield title, tuple(shown[:_MOST_TYPES] + more)


def _exhibits(known: CityStatistics) -> Iterator[TableExhibit]:
    """Yield the tables of what could not be used of a town, without those that would be empty."""
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


def _unread_tags(title: str, tags: Mapping[str, int], note: str) -> TableExhibit:
    """Return a table of up to `_MOST_TAGS` unread map tags, with numbers of houses; `note`: shown below."""
    rows = tuple((shorten(tag, _LONGEST_HOURS), count) for tag, count in tags.items())[:_MOST_TAGS]
    return TableExhibit(title=title, columns=("tag", "houses"), rows=rows, note=note)


def _share(part: int, whole: int) -> str:
    """Return `part` and its share of `whole` as text, such as "12 (3.4 %)"; no share if `whole` is 0."""
    return f"{part:,} ({short_number(100 * part / whole)} %)" if whole else f"{part:,}"

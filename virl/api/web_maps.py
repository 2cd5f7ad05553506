"""Maps to zoom and pan in a notebook, with folium."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from virl.extras import require
from virl.geo.globe import LatLng
from virl.journal.journal import read_journal
from virl.journal.recorded_run import Finished
from virl.journal.records import StepRecord
from virl.pages.theme import colours
from virl.plain_text import html_line
from virl.platform.city.city import City
from virl.platform.city.maps import Route
from virl.platform.city.places import Place

if TYPE_CHECKING:
    import folium

ZOOM = 16
_HARMLESS = {ord(letter): f"&#{ord(letter)};" for letter in "`$\\{}"}
"""HTML escapes, by code point, of the characters that folium's scripts and templates would interpret."""


def to_folium(
    city: City,
    *,
    route: Route | None = None,
    run: "Finished | str | Path | None" = None,
    places: Iterable[Place] = (),
    tiles: str | None = None,
) -> "folium.Map":
    """Return a zoomable map of a city's streets, a route, a run and places; `tiles` is a background, if any.

    The map names whose data it shows. Whoever opens it loads folium's scripts from public hosts. By default
    no tiles are loaded: the streets of the city are drawn, which suffices for towns made by virl or rebuilt
    from OpenStreetMap. `tiles="OpenStreetMap"` loads pictures of the map from openstreetmap.org, one by one
    as the reader looks at them, with attribution, as its tile usage policy allows; do not use that for pages
    with many readers. Google's terms forbid showing what Google returned on a map of another provider.

    Args:
        city: open.
        route: drawn as a line.
        run: a run that has ended, or the folder of any run; its walk is drawn.
        places: drawn as points with their names.
        tiles: what folium takes as `tiles`, such as `"OpenStreetMap"`; `None` for none.

    Raises:
        ModelUnavailable: folium is missing.
        BadInput: the folder holds no run.
        JournalBroken: the run's journal is damaged.
    """
    require("maps", "folium", what="a map")
    import folium  # noqa: PLC0415 - an extra, loaded when asked for

    tokens = colours()
    drawn = folium.Map(
        list(city.center), zoom_start=ZOOM, tiles=tiles, prefer_canvas=True, control_scale=True
    )
    if city.street_map and tiles is None:
        lines = [line for line in city.street_map.lines() if len(line) > 1]
        folium.PolyLine(lines, color=tokens["soft"], weight=2, interactive=False).add_to(drawn)
    shown: list[LatLng] = []
    if route:
        length = f"{route.distance:,.0f} m"
        folium.PolyLine(route.path, color=tokens["c3"], weight=5, tooltip=length).add_to(drawn)
        shown += route.path
    if run:
        records = read_journal(run.folder if isinstance(run, Finished) else Path(run))
        poses = [record.pose for record in records if isinstance(record, StepRecord)]
        walked = [LatLng(pose.lat, pose.lng) for pose in poses]
        if walked:
            folium.PolyLine(walked, color=tokens["route"], weight=5, tooltip="the walk").add_to(drawn)
            folium.CircleMarker(
                walked[-1], radius=7, color=tokens["route"], fill=True, tooltip="its end"
            ).add_to(drawn)
        shown += walked
    for place in places:
        spot = folium.CircleMarker(
            place.position, radius=6, color=tokens["c1"], fill=True, tooltip=_escape_line(place.name)
        )
        spot.add_to(drawn)
        shown.append(place.position)
    if shown:
        lat, lng = zip(*shown, strict=True)
        drawn.fit_bounds([(min(lat), min(lng)), (max(lat), max(lng))])
    if city.notice:
        drawn.get_root().html.add_child(folium.Element(f"<p><small>{_escape_line(city.notice)}</small></p>"))
    return drawn


def _escape_line(text: str) -> str:
    """Return a text as one line, escaped for HTML and for folium's scripts."""
    return html_line(text).translate(_HARMLESS)

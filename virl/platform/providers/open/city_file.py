"""The file of a city of open data: who gives its street view, its places and its maps."""

from datetime import date
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from virl.platform.providers.city_file import CityFile, Position
from virl.platform.providers.http.settings import HOST

Host = Annotated[str, Field(pattern=HOST)]


class OpenCity(CityFile):
    """A file of `platform/cities/` for a real district in open data."""

    streetview: Literal["panoramax", "mapillary"] = "panoramax"
    """Who gives the pictures."""
    places: Literal["osm"] = "osm"
    """Who knows the places: `osm` is the extract."""
    maps: Literal["osm"] = "osm"
    """Who knows addresses and routes: `osm` is the extract."""
    center: Position
    extract: Path | None = None
    """An OpenStreetMap extract; without it there are streets alone, no places and no addresses."""
    as_of: date | None = None
    """Leaves out pictures that were taken after this day."""
    reach_m: float = Field(default=400.0, ge=50, le=3000)
    """Metres around the center whose pictures are known at first, in a city without a polygon; more are
    asked for as one comes near the edge."""
    panoramax_url: Host | None = None
    """A server of Panoramax; by default as `platform/providers/open.yaml` says."""
    mapillary_url: Host | None = None
    """A server of Mapillary's API; by default as `platform/providers/open.yaml` says."""

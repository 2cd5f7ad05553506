"""The file of a city of open data: who gives its street view, its places and its maps."""

from datetime import date
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from virl.platform.providers.city_file import CityFile, Position
from virl.platform.providers.google.options import GoogleOptions
from virl.platform.providers.http.settings import HOST
from virl.resources import data_home

Host = Annotated[str, Field(pattern=HOST)]
Url = Annotated[str, Field(pattern=r"^https?://[^/?#@\s]+(/[^?#\s]*)?$")]
"""With a path, and without credentials: those go into the environment."""


class OpenCity(CityFile):
    """A file of `platform/cities/` for a real district in open data."""

    streetview: Literal["panoramax", "mapillary"] = "panoramax"
    """Who gives the pictures."""
    places: Literal["osm", "overpass", "overture", "google"] = "osm"
    """Who knows the places: `osm` is the extract, `overture` the file of that field."""
    maps: Literal["osm", "osrm", "valhalla", "google"] = "osm"
    """Who knows routes: `osm` is the extract. It knows the addresses too where there is one; else Nominatim
    does, except for `google`."""
    center: Position
    extract: Path | None = None
    """An OpenStreetMap extract; without it there are streets alone, no places and no addresses."""
    overture: Path | None = None
    """A GeoParquet file of Overture's places, or a folder of them; looked for in the folder `overture` of the
    user's data folder too."""
    as_of: date | None = None
    """Leaves out pictures that were taken after this day."""
    reach_m: float = Field(default=400.0, ge=50, le=3000)
    """Metres around the center whose pictures are known at first, in a city without a polygon; more are
    asked for as one comes near the edge."""
    panoramax_url: Host | None = None
    """A server of Panoramax; by default as `platform/providers/open.yaml` says."""
    mapillary_url: Host | None = None
    """A server of Mapillary's API; by default as `platform/providers/open.yaml` says."""
    overpass_url: Url | None = None
    """Of an Overpass interpreter; by default as `platform/providers/open-maps.yaml` says."""
    nominatim_url: Url | None = None
    """Of a search of Nominatim; by default likewise."""
    osrm_url: Url | None = None
    """Of an OSRM server, in which `{profile}` stands for foot, bike or car; by default likewise."""
    valhalla_url: Url | None = None
    """Of a Valhalla server; by default likewise."""
    google: GoogleOptions = GoogleOptions()
    """How Google is asked, for `places: google` and `maps: google`."""

    @model_validator(mode="after")
    def _overture_has_a_file(self) -> Self:
        if self.places == "overture" and self.overture is None:
            raise ValueError("`places: overture` needs `overture: FILE`, a GeoParquet file of its places")
        return self

    @property
    def overture_files(self) -> Path | None:
        """The file or folder of Overture's places: as given, or in the user's data folder if only there."""
        if self.overture is None or self.overture.exists():
            return self.overture
        kept = data_home() / "overture" / self.overture
        return kept if kept.exists() else self.overture

    @property
    def asks_google(self) -> bool:
        """Whether parts of it cost money, and may not be shown to others."""
        return "google" in {self.places, self.maps}

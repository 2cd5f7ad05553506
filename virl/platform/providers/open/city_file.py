"""The file of a city of open data: the sources of its street view, its places and its maps."""

from datetime import date
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, TypeAdapter, model_validator

from virl.platform.providers.google.city_file import GoogleOptions
from virl.platform.providers.http.settings import HOST
from virl.platform.providers.open.picture_services import PICTURES
from virl.platform.providers.provider import CityFile, Position, name_in
from virl.resources import data_home

Host = Annotated[str, Field(pattern=HOST)]
"""Scheme and host, such as `https://api.panoramax.xyz`."""
Url = Annotated[str, Field(pattern=r"^https?://[^/?#@\s]+(/[^?#\s]*)?$")]
"""URL with a path and without credentials, which go into the environment."""


_HOSTS = TypeAdapter(dict[str, Host])
"""Validator of a dictionary of picture servers' hosts, by a city file's field such as `panoramax_url`."""


class OpenCity(CityFile):
    """The contents of a file of `platform/cities/` for a real district in open data."""

    streetview: Annotated[str, name_in(PICTURES)] = "panoramax"
    """Name of the picture service: one of `virl.platform.providers.open.picture_services.PICTURES`."""
    places: Literal["osm", "overpass", "overture", "google"] = "osm"
    """Source of places: `osm` (the extract), `overpass`, `overture` (the file in that field) or `google`."""
    maps: Literal["osm", "osrm", "valhalla", "google"] = "osm"
    """Source of routes: `osm` (the extract), `osrm`, `valhalla` or `google`.
    The extract, where there is one, knows the addresses too; else Nominatim does, except for `google`."""
    center: Position
    extract: Path | None = None
    """Path of an OpenStreetMap extract; `None`: no places of `osm`, and its maps are ways along panoramas."""
    overture: Path | None = None
    """Path of a GeoParquet file of Overture's places, or of a folder of them.
    Also looked for in the folder `overture` of the user's data folder."""
    as_of: date | None = None
    """Last day on which pictures may have been taken; later ones are left out. `None` for no limit."""
    reach_m: float = Field(default=400.0, ge=50, le=3000)
    """Radius in metres around the center in which pictures are asked for first, in a city without a polygon.
    More are asked for as a walk comes near the edge."""
    picture_urls: dict[str, Host] = Field(default_factory=dict)
    """URL of the picture server by the name of its service; by default the service's own.
    Each is written as a field `NAME_url`."""
    overpass_url: Url | None = None
    """URL of an Overpass interpreter; by default that of `platform/providers/open-maps.yaml`."""
    nominatim_url: Url | None = None
    """URL of a Nominatim server; by default that of `platform/providers/open-maps.yaml`."""
    osrm_url: Url | None = None
    """URL of an OSRM server, with `{profile}` for foot, bike or car; by default that of `open-maps.yaml`."""
    valhalla_url: Url | None = None
    """URL of a Valhalla server; by default that of `platform/providers/open-maps.yaml`."""
    google: GoogleOptions = GoogleOptions()
    """Options of Google, for `places: google` and `maps: google`."""

    @model_validator(mode="before")
    @classmethod
    def _servers_of_pictures(cls, given: object) -> object:
        """Move fields such as `panoramax_url` into `picture_urls`."""
        if not isinstance(given, dict):
            return given
        names = {f"{name}_url": name for name in PICTURES.names()}
        rest = {field: value for field, value in given.items() if field not in names}
        urls = {field: url for field, url in given.items() if field in names and url is not None}
        named = {names[field]: url for field, url in _HOSTS.validate_python(urls).items()}
        return rest | ({"picture_urls": given.get("picture_urls", {}) | named} if named else {})

    @model_validator(mode="after")
    def _overture_has_a_file(self) -> Self:
        """Check that `places: overture` comes with a file."""
        if self.places == "overture" and self.overture is None:
            raise ValueError("`places: overture` needs `overture: FILE`, a GeoParquet file of its places")
        return self

    @property
    def picture_url(self) -> str | None:
        """URL of the picture server that the file names; `None` for the service's own."""
        return self.picture_urls.get(self.streetview)

    @property
    def overture_files(self) -> Path | None:
        """Path of Overture's places, in the user's data folder if only there; `None` if none is named."""
        if self.overture is None or self.overture.exists():
            return self.overture
        kept = data_home() / "overture" / self.overture
        return kept if kept.exists() else self.overture

    @property
    def asks_google(self) -> bool:
        """Return whether parts of the city come from Google, cost money and may not be shown to others."""
        return "google" in {self.places, self.maps}

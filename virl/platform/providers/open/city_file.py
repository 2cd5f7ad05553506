"""The file of a city of open data: who gives its street view, its places and its maps."""

from datetime import date
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, TypeAdapter, model_validator

from virl.errors import UnknownName
from virl.platform.providers.google.city_file import GoogleOptions
from virl.platform.providers.http.settings import HOST
from virl.platform.providers.open.pictures import PICTURES
from virl.platform.providers.provider import CityFile, Position
from virl.resources import data_home

Host = Annotated[str, Field(pattern=HOST)]
Url = Annotated[str, Field(pattern=r"^https?://[^/?#@\s]+(/[^?#\s]*)?$")]
"""A URL with a path, and without credentials: those go into the environment."""


_HOSTS = TypeAdapter(dict[str, Host])


def _check_service(name: str) -> str:
    """Return the name of a service of pictures, checked to exist."""
    if name not in PICTURES:
        raise ValueError(str(UnknownName("service of pictures", name, PICTURES.names())))
    return name


class OpenCity(CityFile):
    """A file of `platform/cities/` for a real district in open data."""

    streetview: Annotated[str, AfterValidator(_check_service)] = "panoramax"
    """The service of the pictures: one of `virl.platform.providers.open.pictures.PICTURES`."""
    places: Literal["osm", "overpass", "overture", "google"] = "osm"
    """The source of places: `osm` is the extract, `overture` the file of that field."""
    maps: Literal["osm", "osrm", "valhalla", "google"] = "osm"
    """The source of routes: `osm` is the extract. It knows the addresses too where there is one; else
    Nominatim does, except for `google`."""
    center: Position
    extract: Path | None = None
    """An OpenStreetMap extract; without it there are streets alone, no places and no addresses."""
    overture: Path | None = None
    """A GeoParquet file of Overture's places, or a folder of them; looked for in the folder `overture` of the
    user's data folder too."""
    as_of: date | None = None
    """Last day on which pictures may have been taken; later ones are left out."""
    reach_m: float = Field(default=400.0, ge=50, le=3000)
    """Metres around the center whose pictures are known at first, in a city without a polygon; more are
    asked for as one comes near the edge."""
    picture_urls: dict[str, Host] = Field(default_factory=dict)
    """Servers of pictures by the name of their service, each written as a field `NAME_url`; by default those
    of the services."""
    overpass_url: Url | None = None
    """An Overpass interpreter; by default as `platform/providers/open-maps.yaml` says."""
    nominatim_url: Url | None = None
    """A search of Nominatim; by default likewise."""
    osrm_url: Url | None = None
    """An OSRM server, in which `{profile}` stands for foot, bike or car; by default likewise."""
    valhalla_url: Url | None = None
    """A Valhalla server; by default likewise."""
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
        """The server of pictures that the file names."""
        return self.picture_urls.get(self.streetview)

    @property
    def overture_files(self) -> Path | None:
        """The file or folder of Overture's places: as given, or in the user's data folder if only there."""
        if self.overture is None or self.overture.exists():
            return self.overture
        kept = data_home() / "overture" / self.overture
        return kept if kept.exists() else self.overture

    @property
    def asks_google(self) -> bool:
        """Return whether parts of it cost money, and may not be shown to others."""
        return "google" in {self.places, self.maps}

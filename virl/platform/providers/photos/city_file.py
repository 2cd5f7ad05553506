"""The file of a city made of photographs, and the path of an index in its place."""

from datetime import date
from pathlib import Path

from virl.platform.providers.city_file import CityFile
from virl.platform.providers.photos.index import SUFFIX


class PhotosCity(CityFile):
    """A file of `platform/cities/` for photographs of one's own."""

    photos: Path
    """The index that `virl import photos` wrote."""
    extract: Path | None = None
    """An OpenStreetMap extract, for places, addresses and routes; without it, there are only streets."""
    as_of: date | None = None
    """Last day on which photos may have been taken; later ones are left out."""


def city_of_path(city: str) -> PhotosCity:
    """Return the city file that stands for the path of an index."""
    name = name_of_path(city)
    return PhotosCity(
        title=name.replace("-", " ").replace("_", " ").title(),
        about=f"Photographs of {Path(city).name}",
        provider="photos",
        photos=Path(city),
    )


def name_of_path(city: str) -> str:
    """Return the name of the city of an index: `drives/riverside.photos.json` gives `riverside`."""
    return Path(city).name.removesuffix(SUFFIX)

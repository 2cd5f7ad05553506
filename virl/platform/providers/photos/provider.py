"""Cities made of geotagged photographs of one's own."""

from virl.platform.city.city import City
from virl.platform.providers.photos.city_file import SUFFIX, PhotosCity, city_of_path, name_of_path
from virl.platform.providers.provider import Access, Paths, Provider


def _open(name: str, file: PhotosCity, access: Access) -> City:
    """Return the city of a file, with the reader of photographs imported only now."""
    from virl.platform.providers.photos.city import open_photos_city  # noqa: PLC0415 - brings in the graphs

    return open_photos_city(name, file, access.day)


PROVIDER = Provider(
    file=PhotosCity,
    open=_open,
    needs="your photographs (`virl import photos`)",
    terms="Under the terms of whoever took the photographs.",
    paths=Paths((SUFFIX,), city_of_path, name_of_path),
)

"""Cities that grow from a seed."""

from virl.platform.city.city import City
from virl.platform.providers.offline.city_file import OfflineCity
from virl.platform.providers.provider import Access, Provider


def _open(name: str, file: OfflineCity, access: Access) -> City:
    """Return the city of a file, with the renderer imported only now."""
    from virl.platform.providers.offline.city import open_offline  # noqa: PLC0415 - brings in the renderer

    del access
    return open_offline(name, file.title, file.seed, file.street_signs, file.crowd)


PROVIDER = Provider(
    file=OfflineCity,
    open=_open,
    drawn=True,
    shareable=True,
    terms="Made by virl from a seed: free to use, to change and to pass on.",
)

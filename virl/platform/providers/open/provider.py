"""Districts of real cities in open data: shared street-level pictures and OpenStreetMap."""

from virl.platform.city.city import City
from virl.platform.providers.open.city_file import OpenCity
from virl.platform.providers.provider import Access, Provider


def _open(name: str, file: OpenCity, access: Access) -> City:
    """Return the city of a file, with the clients of its services imported only now."""
    from virl.platform.providers.open.city import open_city_of_parts  # noqa: PLC0415 - brings in the graphs

    return open_city_of_parts(name, file, access)


PROVIDER = Provider(
    file=OpenCity,
    open=_open,
    needs="a network; a token for some services of pictures",
    network=True,
    billed=False,
    shareable=True,
    terms=(
        "Pictures under CC BY-SA 4.0 or Licence Ouverte 2.0, each with its own author and licence, which "
        "everything made from it has to name; maps and places under ODbL 1.0."
    ),
)

"""Districts of real cities, asked of Google Maps Platform."""

from virl.platform.city.city import City
from virl.platform.providers.google.city_file import GoogleCity
from virl.platform.providers.provider import Access, Provider


def _open(name: str, file: GoogleCity, access: Access) -> City:
    """Return the city of a file, with the clients of Google imported only now."""
    from virl.platform.providers.google.city import google_city  # noqa: PLC0415 - brings in the clients

    return google_city(name, file, access)


PROVIDER = Provider(
    file=GoogleCity,
    open=_open,
    needs="GOOGLE_MAPS_API_KEY",
    network=True,
    billed=True,
    shareable=False,
    terms=(
        "Content of Google Maps Platform, under its terms of service: keep it no longer and pass it on no "
        "further than they allow. Place ids may be kept; names, reviews and photos may not be republished."
    ),
)

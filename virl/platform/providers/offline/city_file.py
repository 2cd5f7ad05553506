"""The file of a city that is made."""

from typing import ClassVar, Literal

from pydantic import Field

from virl.platform.providers.provider import CityFile

StreetSigns = Literal["plates", "signposts"]


class OfflineCity(CityFile):
    """A file of `platform/cities/` for a city that is made."""

    invents_life: ClassVar[bool] = True
    """True: all that lives in a made town is invented."""

    seed: int = Field(ge=0)
    """The seed that the city grows from."""
    street_signs: tuple[StreetSigns, ...] = ()
    """Over its junctions: `plates` with street names and house numbers, `signposts` to landmarks."""

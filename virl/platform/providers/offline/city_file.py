"""The file of a city that is made."""

from typing import ClassVar, Literal

from pydantic import Field

from virl.platform.providers.provider import CityFile, Crowd

StreetSigns = Literal["plates", "signposts"]
"""Kinds of signs over junctions: plates with street names and house numbers, or signposts to landmarks."""


class OfflineCity(CityFile):
    """The contents of a file of `platform/cities/` for a made town."""

    invents_life: ClassVar[bool] = True
    """True, as all life in a made town is invented."""

    seed: int = Field(ge=0)
    """Seed from which the town grows."""
    street_signs: tuple[StreetSigns, ...] = ()
    """Signs over junctions: `plates` with street names and house numbers, `signposts` to landmarks."""
    crowd: Crowd = 1.0
    """People, cyclists, cars and cafe tables in views, as a factor on what is usual; 0 for none."""

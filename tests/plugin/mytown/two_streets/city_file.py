"""What a city file of the provider `two-streets` holds."""

from pydantic import Field

from virl.platform.providers.provider import CityFile, Position
from virl.settings.model import Settings


class Shop(Settings):
    """A shop on Main Street."""

    name: str
    type: str
    """Such as `cafe`."""
    rating: float = Field(default=4.0, ge=1, le=5)
    """Stars, 1 to 5."""
    review: str = ""
    """What a visitor wrote."""


class TwoStreetsFile(CityFile):
    """A city of two streets: Main Street leads east and west, Cross Street north and south."""

    center: Position
    """Where the streets cross."""
    arm: int = Field(ge=1, le=1000)
    """Panoramas on each side of the crossing, 10 m apart."""
    shops: tuple[Shop, ...] = ()
    """The shops on the north side of Main Street, 10 m apart, from the crossing to the east."""

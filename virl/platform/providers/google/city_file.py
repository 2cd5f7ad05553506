"""The file of a district that Google is asked about."""

from virl.platform.providers.city_file import CityFile, Language, Name, Position, TimeZone
from virl.platform.providers.google.options import GoogleOptions
from virl.platform.providers.google.settings import load_google_settings
from virl.region import Region


class GoogleCity(CityFile):
    """A file of `platform/cities/` for a district of a real city."""

    city: Name
    district: Name
    country: Name
    language: Language
    google: GoogleOptions = GoogleOptions()
    """How Google is asked, where it should differ from the defaults."""
    time_zone: TimeZone
    polygon: tuple[Position, ...]
    center: Position

    @property
    def movers(self) -> tuple[str, ...]:
        """As `CityFile.movers`: without Map Tiles no links are known."""
        return () if load_google_settings().map_tiles else ("grid", "web")

    @property
    def region(self) -> Region:
        """The district."""
        return Region(self.polygon)

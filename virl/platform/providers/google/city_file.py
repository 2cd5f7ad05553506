"""The file of a district that Google is asked about."""

from virl.platform.mover_choice import MoverChoice
from virl.platform.providers.city_file import CityFile, Language, Name, Position, TimeZone
from virl.platform.providers.google.mover import known_mover
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
    def mover(self) -> MoverChoice:
        """As `CityFile.mover`."""
        later = (
            "until a run starts; then hybrid where links are thin around the start, and grid if the key may "
            "not use Map Tiles"
        )
        return known_mover(self.google, load_google_settings().map_tiles) or MoverChoice("links", later)

    @property
    def region(self) -> Region:
        """The district."""
        return Region(self.polygon)

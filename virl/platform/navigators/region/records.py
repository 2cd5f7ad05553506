"""What a survey writes down: one record a line, described in `docs/reference/movement.md`."""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from virl.files.json_reading import JsonRecord
from virl.geo.globe import LatLng
from virl.platform.city.streetview import Link, Panorama

FORMAT = 1
"""Version of the file; one of another version is refused."""


class SurveyPlan(JsonRecord):
    """First record of a survey file: region and settings of the search for panoramas."""

    kind: Literal["plan"] = "plan"
    format: int = FORMAT
    corners: tuple[LatLng, ...]
    spacing: float
    """Metres between the positions of the grid."""
    radius: float
    """Metres within which each position is relocated."""
    follow_links: bool
    """True if the ends of links are asked for, too."""


class SurveyedPanorama(JsonRecord):
    """A panorama with its position and links."""

    id: str
    position: LatLng
    links: tuple[tuple[str, float, float], ...] = ()
    """Id of the panorama, heading in degrees and metres of each link."""

    @classmethod
    def of(cls, panorama: Panorama) -> "SurveyedPanorama":
        """Return the record of a panorama."""
        links = tuple((link.pano_id, link.heading, link.distance) for link in panorama.links)
        return cls(id=panorama.id, position=panorama.position, links=links)

    def to_links(self) -> list[Link]:
        """Return the links as `Link` objects."""
        return [Link(*link) for link in self.links]


class Batch(JsonRecord):
    """Positions relocated together, and the panorama nearest to each."""

    kind: Literal["batch"] = "batch"
    asked: tuple[LatLng, ...]
    nearest: tuple[str | None, ...]
    """Ids, in the order of `asked`; null where no panorama is near."""
    new: tuple[SurveyedPanorama, ...]
    """Panoramas that no batch before has found."""


class Ordered(JsonRecord):
    """Record of the order in which a walk visits panoramas."""

    kind: Literal["order"] = "order"
    start: str
    """The panorama that the walk was started from; it need not be in the region."""
    ids: tuple[str, ...]
    """Ids of the panoramas in the order to visit them."""


AnyRecord = Annotated[SurveyPlan | Batch | Ordered, Field(discriminator="kind")]
RECORD: TypeAdapter[SurveyPlan | Batch | Ordered] = TypeAdapter(AnyRecord)

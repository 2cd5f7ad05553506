"""The districts that a client would live in."""

from pathlib import Path

from shapely import Point, Polygon

from virl.agent.agent import Agent
from virl.errors import BadInput
from virl.geo import LatLng, LocalFrame
from virl.platform.providers.cities import city_settings, region_called
from virl.region import Region
from virl.routines.counting.where import region_of
from virl.routines.homes.settings import RENT, Circle

CIRCLE_CORNERS = 64  # of the polygon that stands for a circle: within 0.2 % of its area


def areas_of(agent: Agent) -> dict[str, Polygon]:
    """The districts by name, their points as (longitude, latitude).

    Raises:
        BadInput: one is not known, or is no polygon.
    """
    rent = RENT.of(agent.character)
    if rent is None or not rent.areas:
        return {agent.city.title: _outline(region_of(agent))}
    return {
        _label(area, number): _polygon(area, agent.source.parent)
        for number, area in enumerate(rent.areas, start=1)
    }


def _label(area: str | Circle | tuple[tuple[float, float], ...], number: int) -> str:
    if isinstance(area, str):
        return Path(area).stem
    return f"area {number}"


def _polygon(area: str | Circle | tuple[tuple[float, float], ...], folder: Path) -> Polygon:
    if isinstance(area, Circle):
        frame = LocalFrame(LatLng(area.lat, area.lng))
        ring = Point(0.0, 0.0).buffer(area.radius, quad_segs=CIRCLE_CORNERS // 4).exterior.coords
        return Polygon([(place.lng, place.lat) for place in (frame.position(x, y) for x, y in ring)])
    if not isinstance(area, str):
        return _outline(Region(tuple(LatLng(*corner) for corner in area)))
    if Path(area).suffix in {".yaml", ".yml"}:
        region = city_settings(str(folder / area)).region
        if region is None:
            raise BadInput(f"rent: areas: {area}: has no polygon: give a circle or corners")
        return _outline(region)
    return _outline(region_called(area, folder))


def _outline(region: Region) -> Polygon:
    return Polygon([(corner.lng, corner.lat) for corner in region.corners])

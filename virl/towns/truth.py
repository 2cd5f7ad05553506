"""The truth of a town: things in a view, for scoring, and all that the town has, for pages and exports."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import shapely

from virl.errors import NoStreetView, NotFound
from virl.geo.globe import Floats, LatLng, LocalFrame
from virl.platform.city.city import Thing, Visible
from virl.platform.city.inventory import CityStatistics, GroundArea, House, MappedStreet
from virl.platform.city.places import Place
from virl.platform.city.streetview import Camera
from virl.towns.plan.town_plan import CityPlan, to_positions
from virl.towns.streetview import RendererOf, check_drawing


class OfflineTruth:
    """The ground truth of a made town, from its plan and renderer."""

    def __init__(self, plan: CityPlan, renderer: RendererOf) -> None:
        """Keep what questions are answered from; `renderer` makes the plan's renderer when it is needed."""
        self._layout = plan.layout
        self._xy = plan.layout.panoramas.xy
        self._renderer = renderer
        self._attributes = {shop.place.id: shop.attributes for shop in plan.shops}

    def visible(
        self, pano_id: str, camera: Camera, min_pixels: int = 12, kinds: Collection[str] | None = None
    ) -> list[Visible]:
        """Return the signs and furniture with at least `min_pixels` visible pixels in a view, nearest first.

        Args:
            pano_id: id of the panorama where the camera stands.
            camera: camera of the view.
            min_pixels: least number of visible pixels of a thing.
            kinds: kinds of thing to look for; `None` looks for all. The fewer, the faster.

        Raises:
            NoStreetView: there is no panorama of that id.
        """
        prefix, _, number = pano_id.partition("-")
        if prefix != "vt" or not number.isdecimal() or int(number) >= len(self._xy):
            raise NoStreetView(f"no panorama has the id {pano_id!r}: ids end at vt-{len(self._xy) - 1:05d}")
        x, y = self._xy[int(number)]
        return self._renderer().visible(float(x), float(y), camera, min_pixels, kinds)

    def things(self, kinds: Collection[str] | None = None) -> list[Thing]:
        """Return all street furniture of some kinds (`None`: of all), sorted by id."""
        frame = self._layout.frame
        found = (one for one in self._layout.furniture if kinds is None or one.kind in kinds)
        things = (Thing(one.id, one.kind, frame.position(one.x, one.y), one.is_mapped) for one in found)
        return sorted(things, key=lambda thing: thing.id)

    def crossings(self) -> list[LatLng]:
        """Return the positions of the middles of all marked crossings."""
        check_drawing()
        from virl.towns.render.segments import zebra_middles  # noqa: PLC0415 - as the renderer

        frame = self._layout.frame
        return [frame.position(*middle) for middle in zebra_middles(self._layout)]

    def attributes(self, place_id: str) -> Mapping[str, bool]:
        """Return whether a place has each hidden attribute, by the attribute's name.

        Raises:
            NotFound: no place has this id.
        """
        if place_id not in self._attributes:
            raise NotFound(f"no place has the id {place_id!r} in this city")
        return self._attributes[place_id]


@dataclass(eq=False)
class PlanInventory:
    """An inventory of the streets, houses, areas and places of a town's plan."""

    plan: CityPlan
    count: Callable[[CityPlan], CityStatistics]
    """Function that counts what is in the plan; called once, on the first question."""
    ways: Sequence[tuple[str, str]] = ()
    """(id, kind) of the way of each street; if empty, streets have their numbers as ids and no kinds."""
    known_houses: Sequence[tuple[str, bool]] = ()
    """(id, whether the height is known) of each building; if empty, their numbers and True are used."""
    squares: Sequence[tuple[str, shapely.Polygon]] = ()
    """(name or empty, outline in metres) of each paved square."""

    def streets(self) -> Sequence[MappedStreet]:
        """Return all streets, in the order of the plan."""
        layout = self.plan.layout
        ways = self.ways or [(str(street.id), "") for street in layout.streets]
        return [
            MappedStreet(way, street.name, kind, to_positions(layout.frame, street.line))
            for street, (way, kind) in zip(layout.streets, ways, strict=True)
        ]

    def houses(self) -> Sequence[House]:
        """Return all buildings, in the order of the plan."""
        layout = self.plan.layout
        known = self.known_houses or [(str(house.id), True) for house in layout.buildings]
        outlines = _in_degrees(layout.frame, [house.footprint for house in layout.buildings])
        return [
            House(name, outline, house.height + house.roof_height, is_known, house.base)
            for house, outline, (name, is_known) in zip(layout.buildings, outlines, known, strict=True)
        ]

    def areas(self) -> Sequence[GroundArea]:
        """Return all parks, waters and squares."""
        layout, names = self.plan.layout, [name for name, _ in self.squares]
        shapes = layout.parks, layout.waters, [square for _, square in self.squares]
        parks, waters, squares = (_in_degrees(layout.frame, part) for part in shapes)
        found = [GroundArea("park", one) for one in parks] + [GroundArea("water", one) for one in waters]
        return found + [GroundArea("square", one, name) for one, name in zip(squares, names, strict=True)]

    def places(self) -> Sequence[Place]:
        """Return all places, closed ones too, sorted by id."""
        return sorted((shop.place for shop in self.plan.shops), key=lambda place: place.id)

    def ids_with_sign(self) -> frozenset[str]:
        """Return the ids of the places that have a sign of their own."""
        return frozenset(shop.place.id for shop in self.plan.shops if shop.has_own_sign)

    def ids_on_directory(self) -> frozenset[str]:
        """Return the ids of the places whose name stands on the directory of a building."""
        return frozenset(shop.place.id for shop in self.plan.shops if shop.is_on_directory)

    def statistics(self) -> CityStatistics:
        """Return the counts of what the town has."""
        return self._statistics

    @cached_property
    def _statistics(self) -> CityStatistics:
        """Counts of what the town has, made once."""
        return self.count(self.plan)


def plan_statistics(plan: CityPlan, ground: shapely.Polygon | None = None) -> CityStatistics:
    """Return the counts of what is in a plan, and the area of `ground`, by default its streets' hull."""
    layout = plan.layout
    corners = np.concatenate([street.line for street in layout.streets])
    covered = ground or shapely.MultiPoint(corners).convex_hull
    water = shapely.union_all(layout.waters)
    standing = [house.footprint for house in layout.buildings if not house.base]
    afloat = shapely.within(shapely.point_on_surface(standing), water).sum() if standing else 0
    return CityStatistics(
        area_m2=float(covered.area),
        water_m2=float(shapely.intersection(water, covered).area),
        houses_in_water=int(afloat),
        street_m=float(
            sum(np.linalg.norm(np.diff(street.line, axis=0), axis=1).sum() for street in layout.streets)
        ),
        houses=len(layout.buildings),
        places_by_type=count_names(shop.place.types[0] for shop in plan.shops if shop.place.types),
        places_with_sign=sum(shop.has_own_sign for shop in plan.shops),
        places_on_directory=sum(shop.is_on_directory for shop in plan.shops),
        furniture=count_names(thing.kind for thing in layout.furniture if thing.is_mapped),
        filled=count_names(thing.kind for thing in layout.furniture if not thing.is_mapped),
        hours_read=sum(bool(shop.place.hours) for shop in plan.shops),
    )


def count_names(names: Iterable[str]) -> Mapping[str, int]:
    """Return the number of times that each name occurs, the most frequent first."""
    found = Counter(names)
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def _in_degrees(frame: LocalFrame, shapes: Sequence[shapely.Polygon]) -> Sequence[shapely.Polygon]:
    """Return polygons in metres of a frame as polygons of (longitude, latitude) in degrees."""

    def degrees(xy: Floats) -> Floats:
        """Return points in metres as (longitude, latitude), shape (n, 2)."""
        lat, lng = frame.to_degrees(xy[:, 0], xy[:, 1])
        return np.column_stack([lng, lat])

    turned: list[shapely.Polygon] = shapely.transform(np.array(shapes, object), degrees).tolist()
    return turned

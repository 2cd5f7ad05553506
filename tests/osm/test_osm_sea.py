"""The sea of towns on eight made coasts: the share of the ground that is water is that of the made truth."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import shapely
from odd_extracts import MIDDLE, OddTown
from shapely import Polygon, box

from virl.geo.globe import LocalFrame
from virl.geo.region import Region
from virl.osm.extract import read_extract
from virl.osm.plan import Twin, build_twin
from virl.platform.city.city import City
from virl.platform.providers.osm.city import open_twin, twin_statistics
from virl.platform.providers.osm.city_file import OsmCity
from virl.sheets.town_page import town_facts

Line = list[tuple[float, float]]
BOX = (-600.0, -500.0, 600.0, 500.0)
FRAME = LocalFrame(MIDDLE)


@dataclass
class Coast:
    """A made town at the sea: its coastlines, with the sea to their right, and its water."""

    lines: list[Line]
    water: Polygon | shapely.MultiPolygon
    lakes: list[list[Line]] = field(default_factory=list)
    outline: tuple[float, float, float, float] = BOX
    lacks: tuple[int, int] = (0, 0)
    """A slice of the nodes that the file has not; those of the first line begin at 10."""
    houses_on: Polygon | None = None
    """Where houses and streets are; by default where there is no water."""

    def write(self, path: Path) -> Region:
        """Write streets and houses wherever there is land."""
        town, west, south, east, north = OddTown(), *self.outline
        dry = box(*self.outline).difference(self.water) if self.houses_on is None else self.houses_on
        land = shapely.buffer(dry, -25)
        shapely.prepare(land)
        for line in self.lines:
            nodes = [town.n(*point) for point in line]
            closed = line[0] == line[-1]
            town.w([*nodes[:-1], nodes[0]] if closed else nodes, natural="coastline")
            del town.parts["n"][slice(*self.lacks)]
        for outer, *inner in self.lakes:
            rings = {
                town.w(town.ring(*outer)): "outer",
                **{town.w(town.ring(*one)): "inner" for one in inner},
            }
            town.r(rings, type="multipolygon", natural="water")
        grid = product(np.arange(west + 50, east, 50).tolist(), np.arange(south + 50, north, 50).tolist())
        corners = {spot: town.n(*spot) for spot in grid if shapely.contains_xy(land, *spot)}
        for (x, y), corner in corners.items():
            for other in ((x + 50, y), (x, y + 50)):
                if other in corners and (x if other[0] == x else y) % 100 == 0:
                    town.w([corner, corners[other]], highway="residential")
            if shapely.contains(land, box(x + 10, y + 10, x + 22, y + 20)):
                town.house(x + 10, y + 10)
        path.write_text(town.xml(), encoding="utf-8")
        sides = ((west, south), (east, south), (east, north), (west, north))
        return Region(tuple(FRAME.position(*corner) for corner in sides))


def below(line: Line, outline: tuple[float, float, float, float] = BOX) -> Polygon:
    """The water south of a line from west to east."""
    deep = [(line[-1][0], -3000.0), (line[0][0], -3000.0)]
    return shapely.make_valid(Polygon([*line, *deep])).intersection(box(*outline))


def ring(x: float, y: float, radius: float) -> Line:
    """A circle, anticlockwise: an island."""
    return [*map(tuple, Polygon(shapely.Point(x, y).buffer(radius)).exterior.reverse().coords)]  # type: ignore[arg-type]


WAVE: Line = [(x, -200 + 60 * float(np.sin(x / 150))) for x in np.arange(-900.0, 901.0, 30).tolist()]
HARBOUR: Line = [
    *((-900.0, -150.0), (-300.0, -150.0), (-300.0, 120.0), (-220.0, 120.0), (-220.0, -150.0), (80.0, -150.0)),
    *((80.0, 60.0), (90.0, 60.0), (90.0, -380.0), (300.0, -380.0), (300.0, -365.0), (105.0, -365.0)),
    *((105.0, -100.0), (900.0, -100.0)),
]
SKERRY, HOLM, HOME = ring(-300, -380, 70), ring(200, -400, 40), ring(0, 0, 320)
LAKE, INLET = ring(-350, 250, 120), ring(-350, 250, 50)
WIDE = (-1000.0, -700.0, 1000.0, 700.0)
SHORT: Line = [(-1400.0, -250.0), (-500.0, -250.0), (400.0, -250.0)]
COASTS: dict[str, Callable[[], Coast]] = {
    "straight on": lambda: Coast([WAVE], below(WAVE)),
    "islands": lambda: Coast(
        [WAVE, SKERRY, HOLM], below(WAVE).difference(Polygon(SKERRY)).difference(Polygon(HOLM))
    ),
    "harbour": lambda: Coast([HARBOUR], below(HARBOUR)),
    "a lake with an island": lambda: Coast(
        [WAVE], below(WAVE).union(Polygon(LAKE).difference(Polygon(INLET))), [[LAKE, INLET]]
    ),
    "in pieces": lambda: Coast([WAVE[40:], WAVE[:20], WAVE[22:30], WAVE[29:41]], below(WAVE)),
    "clipped": lambda: Coast([WAVE], below(WAVE), lacks=(64, 71)),
    "ending inside": lambda: Coast([SHORT], below([*SHORT, (1400.0, -250.0)], WIDE), outline=WIDE),
    "an island alone": lambda: Coast([HOME], box(*BOX).difference(Polygon(HOME))),
}


def built(coast: Coast, path: Path) -> Twin:
    return build_twin(read_extract(path, coast.write(path)))


@pytest.mark.parametrize("name", COASTS)
def test_the_share_of_water_is_that_of_the_made_coast(name: str, tmp_path: Path) -> None:
    coast = COASTS[name]()
    twin = built(coast, tmp_path / "a.osm")
    known = twin_statistics(twin)
    assert known.water_m2 is not None
    truth = coast.water.area / box(*coast.outline).area
    assert known.water_m2 / known.area_m2 == pytest.approx(truth, rel=0.01)
    assert known.houses == (tmp_path / "a.osm").read_text("utf-8").count('k="building"')
    assert known.houses_in_water == 0
    assert not [one for one in known.left_out if one.source == "coastlines"]


def test_a_whole_file_has_its_sea_up_to_where_its_ways_end(tmp_path: Path) -> None:
    coast = COASTS["straight on"]()
    coast.write(tmp_path / "a.osm")
    extract = read_extract(tmp_path / "a.osm")
    x, y = FRAME.point(extract.frame.origin)
    outline = shapely.transform(extract.outline, lambda xy: xy + np.array([x, y]))
    truth = below([(-3000.0, WAVE[0][1]), *WAVE, (3000.0, WAVE[-1][1])], outline.bounds).area / outline.area
    known = twin_statistics(build_twin(extract))
    assert (known.water_m2 or 0) / known.area_m2 == pytest.approx(truth, rel=0.01)


@pytest.mark.parametrize(
    "coast",
    [
        pytest.param(Coast([WAVE[::-1]], below(WAVE)), id="drawn the wrong way round"),
        pytest.param(
            Coast([SKERRY], Polygon(), houses_on=box(*BOX)), id="an island, and no coast of the town"
        ),
        pytest.param(Coast([SHORT, SHORT[::-1][1:]], Polygon(), houses_on=box(*BOX)), id="mapped twice"),
        pytest.param(Coast([HARBOUR], Polygon(), houses_on=box(*BOX)), id="houses on both sides"),
    ],
)
def test_no_town_is_flooded_and_the_page_says_why(coast: Coast, tmp_path: Path) -> None:
    twin = built(coast, tmp_path / "a.osm")
    known = twin_statistics(twin)
    assert (known.water_m2 or 0) / known.area_m2 < 0.02
    [told] = [one for one in known.left_out if one.source == "coastlines"]
    assert "are drawn as land: " in told.reasons[0]


def test_only_boathouses_and_houses_on_piers_stand_in_water(tmp_path: Path) -> None:
    town = OddTown()
    town.w([*(town.n(x, -60) for x in (-150, 0, 150))], natural="coastline")
    town.w(town.ring((-100, 60), (-20, 60), (-20, 140), (-100, 140)), natural="water")
    town.house(-80, -90, building="boathouse")
    town.w(town.ring((50, -58), (80, -58), (80, -100), (50, -100)), man_made="pier")
    town.house(55, -95)
    town.house(-60, 80)
    town.house(20, 60)
    path = tmp_path / "a.osm"
    path.write_text(town.xml(), encoding="utf-8")
    twin = build_twin(read_extract(path))
    known = twin_statistics(twin)
    assert (known.houses, known.houses_in_water) == (5, 2)
    bank = shapely.area(shapely.buffer(shapely.box(0, 0, 12, 10), 1.0))
    lake = shapely.area([one for one in twin.plan.layout.waters if one.interiors]).sum()
    assert lake == pytest.approx(80 * 80 - bank, rel=0.01)
    facts = {**dict(town_facts(opened(path)).streets), **dict(town_facts(opened(path)).holdings)}
    assert facts["Houses in water (boathouses, on piers)"] == "2"
    assert facts["Water"].endswith(" %)")


def opened(path: Path) -> City:
    return open_twin("town", OsmCity(title="Town", about="", provider="osm", extract=path))

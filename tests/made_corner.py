"""A street corner drawn by hand, for tests of pictures: two streets, four houses, a few shops and things."""

from dataclasses import replace

import numpy as np
from shapely import Polygon, box

from virl.geo.globe import LatLng, LocalFrame
from virl.platform.city.places import Place
from virl.towns.plan.town_plan import (  # fmt: skip
    Building,
    CityPlan,
    Frontage,
    Furniture,
    Panoramas,
    Point,
    Shop,
    Sign,
    SignKind,
    Street,
    StreetPlan,
)

FRONT_Y = 8.0
"""The house fronts north of the street stand on this line; the street runs along y = 0."""


def made_sign(
    text: str = "Golden Lotus Bakery", *, left: Point = (-3.0, 7.88), right: Point = (3.0, 7.88),
    bottom: float = 3.0, top: float = 3.9, kind: SignKind = "fascia", variant: int = 0,
) -> Sign:  # fmt: skip
    """A sign over the first shop's front, read from the south."""
    return Sign(f"sign-{text}", f"place-{text}", text, "", kind, left, right, bottom, top, variant)


def made_shop(*signs: Sign, frontage: int = 0, variant: int = 1) -> Shop:
    name = signs[0].text if signs else "Nameless"
    return Shop(
        Place(f"place-{name}", name, ("store",), LatLng(0, 0)), frontage, signs, {"quiet": True}, variant
    )


def made_building(number: int, shape: Polygon, height: float = 12.0, variant: int = 0) -> Building:
    return Building(number, shape, height, variant)


def bare_plan(
    *shops: Shop, buildings: tuple[Building, ...] = (), furniture: tuple[Furniture, ...] = ()
) -> CityPlan:
    """One street from west to east and nothing beside it but what is given."""
    streets = (
        Street(0, "Long Street", np.array([[-120.0, 0.0], [0.0, 0.0]]), 0, 1, 8.0, 4.0),
        Street(1, "Long Street", np.array([[0.0, 0.0], [120.0, 0.0]]), 1, 2, 8.0, 4.0),
    )
    xy = np.column_stack([np.arange(-100.0, 101.0, 10.0), np.zeros(21)])
    ends = np.arange(20)
    layout = StreetPlan(
        frame=LocalFrame(LatLng(12.5, -38.25)),
        streets=streets,
        junctions=np.array([[-120.0, 0.0], [0.0, 0.0], [120.0, 0.0]]),
        panoramas=Panoramas(xy, np.zeros(21, np.int64), np.append(ends, ends + 1), np.append(ends + 1, ends)),
        buildings=buildings,
        frontages=(Frontage(0, None, 0, (-5.0, FRONT_Y), (5.0, FRONT_Y), 1, 1.0),),
        furniture=furniture,
    )
    return CityPlan(0, layout, shops)


def made_corner() -> CityPlan:
    """The whole corner: houses on both sides, three shops, a park with a board, and one of each thing."""
    houses = tuple(
        made_building(i, box(x, y, x + 20.0, y + 14.0), height, variant)
        for i, (x, y, height, variant) in enumerate(
            [
                (-30, 8, 14, 0),
                (-10, 8, 11, 5),
                (10, 8, 17, 8),
                (30, 8, 12, 10),
                (-30, -22, 15, 3),
                (-10, -22, 12, 6),
            ]
        )
    )
    fronts = (
        Frontage(0, 1, 0, (-5.0, 8.0), (5.0, 8.0), 1, 1.0),
        Frontage(1, 2, 0, (15.0, 8.0), (25.0, 8.0), 3, 1.0),
        Frontage(2, 5, 0, (5.0, -8.0), (-5.0, -8.0), 2, 1.0),
        Frontage(3, 0, 0, (-24.0, 8.0), (-18.0, 8.0), 5, 0.2),
    )
    noodles = made_sign("牛記麵家", left=(17.0, 7.88), right=(23.0, 7.88), variant=7)
    blade = made_sign(
        "Kafé", left=(-4.5, -7.88), right=(-4.5, -6.7), bottom=4.0, top=4.7, kind="blade", variant=14
    )
    fascia = made_sign("Kafé Öresund", left=(3.0, -7.88), right=(-3.0, -7.88), variant=21)
    board = made_sign(
        "Harbour Green", left=(34.0, -9.0), right=(38.0, -9.0), bottom=1.2, top=1.9, kind="board"
    )
    kinds = (
        "trash bin",
        "fire hydrant",
        "bench",
        "mailbox",
        "tree",
        "street lamp",
        "traffic light",
        "parked car",
    )
    things = tuple(
        Furniture(f"f{i}", kind, -40.0 + 7 * i, 5.2 if kind != "parked car" else -3.0, 180.0, i)
        for i, kind in enumerate(kinds)
    )
    plan = bare_plan(buildings=houses, furniture=things)
    shops = (
        made_shop(made_sign()), made_shop(noodles, frontage=1, variant=3),
        made_shop(fascia, blade, frontage=2, variant=8), made_shop(board, frontage=-1),
    )  # fmt: skip
    layout = replace(plan.layout, frontages=fronts, parks=(box(20.0, -40.0, 60.0, -8.0),))
    return replace(plan, layout=layout, shops=shops)

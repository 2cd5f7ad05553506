"""Meshes of street furniture: a few templates of each kind, copied to where the plan puts them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np

from virl.geo.globe import Ints
from virl.towns.plan.crowd import COMPANIES, PEOPLE
from virl.towns.plan.town_plan import Furniture, FurnitureKind, Rgb
from virl.towns.render.cars import car
from virl.towns.render.mesh import (  # fmt: skip
    CUTOUT,
    PLAIN,
    Quads,
    box,
    face_normals,
    join,
    lid,
    place_copies,
    prism,
    quads,
)
from virl.towns.render.people import CLOTHES, bicycle, cafe_table, person
from virl.towns.render.textures import TILE_INDEX
from virl.towns.render.trees import tree

STEEL, IRON = (0.55, 0.56, 0.58), (0.17, 0.19, 0.20)
PLANK: Rgb = (0.55, 0.36, 0.20)

BIN_PAINTS: tuple[Rgb, ...] = ((0.13, 0.33, 0.20), (0.25, 0.27, 0.29), (0.15, 0.28, 0.45))
HYDRANT_PAINTS: tuple[Rgb, ...] = ((0.80, 0.10, 0.09), (0.93, 0.72, 0.10))
MAILBOX_PAINTS: tuple[Rgb, ...] = ((0.10, 0.22, 0.55), (0.76, 0.10, 0.10))
PLANTER_PAINTS: tuple[Rgb, ...] = ((0.62, 0.60, 0.56), (0.45, 0.27, 0.18), (0.24, 0.26, 0.28))
BENCH_PAINTS: tuple[Rgb, ...] = (PLANK, (0.42, 0.29, 0.18), (0.20, 0.36, 0.25))
LAMP_PAINTS: tuple[Rgb, ...] = (IRON, (0.16, 0.26, 0.22))
STOP_PAINTS: tuple[Rgb, ...] = ((0.93, 0.75, 0.10), (0.12, 0.32, 0.62), (0.15, 0.50, 0.30))


def furniture_mesh(things: Sequence[Furniture], owners: Ints) -> Quads:
    """Return the quads of furniture, each thing with its number from `owners`."""
    groups: dict[tuple[FurnitureKind, int], list[int]] = {}
    for i, thing in enumerate(things):
        groups.setdefault((thing.kind, thing.variant % _MODELS[thing.kind][1]), []).append(i)
    parts = []
    for (kind, variant), members in groups.items():
        models = _MODELS[kind][1]
        x = [things[i].x for i in members]
        y = [things[i].y for i in members]
        heading = [things[i].heading for i in members]
        mesh, copy = place_copies(_model(kind, variant), x, y, heading)
        if kind in {"person", "bicycle"}:
            clothes = [things[i].variant // models % len(CLOTHES) for i in members]
            mesh = replace(mesh, paint=np.array(CLOTHES, np.float32)[clothes][copy])
        parts.append(replace(mesh, owner=owners[members][copy].astype(np.int32)))
    return join(parts)


@cache
def _model(kind: FurnitureKind, variant: int) -> Quads:
    """Return the quads of a thing of a kind at (0, 0), made on first use."""
    return _MODELS[kind][0](variant)


def _trash_bin(variant: int) -> Quads:
    """Return the quads, in metres, of a trash bin of the given variant."""
    paint = BIN_PAINTS[variant % 3]
    if variant % 2:
        body = quads(prism((0.27, 0.30), (0.08, 0.88), 10), paint=paint, texture=TILE_INDEX["bin"])
        rim = quads(prism((0.33, 0.33), (0.88, 0.96), 10), paint=STEEL)
        top = quads(lid(0.33, 0.96, 10), paint=IRON)
        return join([body, rim, top, quads(prism((0.24, 0.24), (0.0, 0.08), 10), paint=IRON)])
    faces = box((-0.29, 0.29), (-0.25, 0.25), (0.10, 0.98))
    body = quads(faces, paint=paint, texture=[TILE_INDEX["bin"]] * 4 + [PLAIN])
    hood = quads(box((-0.32, 0.32), (-0.28, 0.28), (0.98, 1.12), inset=0.08), paint=_darken(paint))
    legs = [box((x, x + 0.06), (-0.20, 0.20), (0.0, 0.10)) for x in (-0.27, 0.21)]
    return join([body, hood, quads(legs, paint=IRON)])


def _fire_hydrant(variant: int) -> Quads:
    """Return the quads, in metres, of a fire hydrant of the given variant."""
    paint = HYDRANT_PAINTS[variant % 2]
    barrel = np.concatenate(
        [
            prism((0.17, 0.17), (0.0, 0.06), 8), lid(0.17, 0.06, 8),
            prism((0.115, 0.11), (0.06, 0.56), 8),
            prism((0.15, 0.15), (0.54, 0.60), 8), lid(0.15, 0.60, 8),
            prism((0.125, 0.07), (0.60, 0.72), 8), prism((0.07, 0.02), (0.72, 0.76), 8),
        ]
    )  # fmt: skip
    caps = [box((-0.23, 0.23), (-0.05, 0.05), (0.38, 0.48)), box((-0.07, 0.07), (-0.20, 0.0), (0.32, 0.46))]
    bolts = [box((-0.25, 0.25), (-0.03, 0.03), (0.40, 0.46)), box((-0.03, 0.03), (-0.03, 0.03), (0.76, 0.81))]
    return join([quads(barrel, paint=paint), quads(caps, paint=_darken(paint)), quads(bolts, paint=STEEL)])


def _bench(variant: int) -> Quads:
    """Return the quads, in metres, of a bench of the given variant."""
    planks = [box((-0.9, 0.9), (y, y + 0.12), (0.43, 0.47)) for y in (-0.24, -0.10, 0.04)]
    planks += [box((-0.9, 0.9), (y, y + 0.04), (z, z + 0.13)) for y, z in ((0.20, 0.55), (0.23, 0.74))]
    legs = [box((x, x + 0.07), (-0.22, 0.26), (0.0, 0.43)) for x in (-0.75, 0.68)]
    legs += [box((x, x + 0.06), (0.22, 0.27), (0.43, 0.90)) for x in (-0.75, 0.69)]
    seat = quads(planks, paint=BENCH_PAINTS[variant % 3])
    return join([seat, quads(planks[0][:, ::-1], paint=_darken(PLANK)), quads(legs, paint=IRON)])


def _mailbox(variant: int) -> Quads:
    """Return the quads, in metres, of a mailbox of the given variant."""
    paint = MAILBOX_PAINTS[variant % 2]
    body = quads(
        box((-0.26, 0.26), (-0.23, 0.23), (0.28, 1.08)),
        paint=paint, texture=[TILE_INDEX["envelope"], PLAIN, PLAIN, PLAIN, PLAIN],
    )  # fmt: skip
    dome = quads(box((-0.26, 0.26), (-0.23, 0.23), (1.08, 1.20), inset=0.07), paint=paint)
    legs = [box((x, x + 0.07), (y, y + 0.07), (0.0, 0.28)) for x in (-0.25, 0.18) for y in (-0.22, 0.15)]
    return join([body, dome, quads(legs, paint=IRON)])


def _bollard(variant: int) -> Quads:
    """Return the quads, in metres, of a bollard of the given variant."""
    paint = LAMP_PAINTS[variant % 2]
    foot = np.concatenate([prism((0.15, 0.13), (0.0, 0.10), 8), lid(0.13, 0.10, 8)])
    if variant // 2 % 2:
        crown = np.concatenate([prism((0.13, 0.09), (0.84, 0.92), 8), prism((0.09, 0.02), (0.92, 0.98), 8)])
    else:
        crown = np.concatenate([prism((0.10, 0.10), (0.80, 0.95), 8), lid(0.10, 0.95, 8)])
    post = np.concatenate([foot, prism((0.10, 0.09), (0.10, 0.84), 8), crown])
    band = quads(prism((0.105, 0.104), (0.66, 0.76), 8), paint=(0.92, 0.91, 0.86))
    return join([quads(post, paint=paint), band])


def _planter(variant: int) -> Quads:
    """Return the quads of a tub with a clipped bush, round or square."""
    paint = PLANTER_PAINTS[variant % 3]
    if variant % 2:
        tub = np.concatenate([prism((0.26, 0.34), (0.0, 0.62), 10), lid(0.34, 0.62, 10)])
        bush = np.concatenate([prism((0.26, 0.30), (0.62, 0.90), 8), prism((0.30, 0.14), (0.90, 1.10), 8)])
        top = lid(0.14, 1.10, 8)
    else:
        tub = box((-0.36, 0.36), (-0.34, 0.34), (0.0, 0.58))
        bush = box((-0.28, 0.28), (-0.26, 0.26), (0.58, 1.02), inset=0.06)
        bush, top = bush[:4], bush[4:]
    shrub = quads(np.concatenate([bush, top]), paint=(0.20, 0.33, 0.15))
    twigs = quads(
        bush + face_normals(bush)[:, None, :] * 0.07,
        texture=TILE_INDEX["leaves/0"], uv=(0.0, 0.0, 0.5, 0.5), paint=(0.85, 1.0, 0.8), mode=CUTOUT,
    )  # fmt: skip
    return join([quads(tub, paint=paint), shrub, twigs])


def _street_lamp(variant: int) -> Quads:
    """Return the quads, in metres, of a street lamp of the given variant."""
    paint = LAMP_PAINTS[variant % 2]
    post = np.concatenate([prism((0.14, 0.11), (0.0, 0.7), 8), prism((0.075, 0.05), (0.7, 5.6), 6)])
    if variant // 2 % 2:
        lantern = prism((0.13, 0.22), (5.6, 6.05), 6)
        roofed = np.concatenate([post, prism((0.26, 0.05), (6.05, 6.3), 6)])
        return join([quads(roofed, paint=paint), quads(lantern, paint=(0.95, 0.93, 0.82))])
    arm = box((-0.04, 0.04), (-1.7, 0.0), (5.5, 5.6))
    head = box((-0.13, 0.13), (-2.1, -1.3), (5.58, 5.70))
    glow = head[4][[1, 0, 3, 2]] - np.array([0, 0, 0.13])
    return join([quads(np.concatenate([post, arm, head]), paint=paint), quads(glow, paint=(1.0, 0.97, 0.86))])


def _traffic_light(variant: int) -> Quads:
    """Return the quads, in metres, of a traffic light of the given variant."""
    post = quads(prism((0.08, 0.07), (0.0, 3.5), 8), paint=IRON)
    case = quads(
        box((-0.17, 0.17), (-0.28, -0.06), (2.45, 3.45)),
        paint=(0.10, 0.10, 0.11), texture=[TILE_INDEX[f"signal/{variant % 3}"], PLAIN, PLAIN, PLAIN, PLAIN],
    )  # fmt: skip
    hoods = [box((-0.13, 0.13), (-0.42, -0.28), (z, z + 0.03)) for z in (2.73, 3.06, 3.39)]
    back = quads(box((-0.27, 0.27), (-0.05, -0.03), (2.35, 3.55)), paint=(0.16, 0.16, 0.17))
    button = quads(box((-0.07, 0.07), (-0.14, -0.07), (0.95, 1.2)), paint=(0.92, 0.75, 0.12))
    return join([post, case, quads(hoods, paint=IRON), back, button])


def _bicycle_stand(variant: int) -> Quads:
    """Return the quads of five hoops in a row along x."""
    hoops = []
    for x in (-1.6, -0.8, 0.0, 0.8, 1.6):
        hoops += [box((x - 0.03, x + 0.03), (y - 0.03, y + 0.03), (0.0, 0.78)) for y in (-0.32, 0.32)]
        hoops.append(box((x - 0.03, x + 0.03), (-0.35, 0.35), (0.76, 0.82)))
    return quads(hoops, paint=(STEEL, IRON)[variant % 2])


def _bus_stop(variant: int) -> Quads:
    """Return the quads of a post with a flag and a timetable, read from its front."""
    paint = STOP_PAINTS[variant % len(STOP_PAINTS)]
    post = quads(prism((0.05, 0.05), (0.0, 2.9), 6), paint=STEEL)
    flag = quads(box((-0.32, 0.32), (-0.05, 0.0), (2.3, 2.85)), paint=paint)
    stripe = quads(box((-0.20, 0.20), (-0.06, 0.0), (2.48, 2.68)), paint=(0.95, 0.95, 0.94))
    case = quads(box((-0.20, 0.20), (-0.09, 0.0), (1.05, 1.65)), paint=IRON)
    table = quads(box((-0.17, 0.17), (-0.10, 0.0), (1.09, 1.61)), paint=(0.93, 0.93, 0.90))
    back = quads(box((-0.32, 0.32), (0.0, 0.03), (2.3, 2.85)), paint=_darken(paint))
    return join([post, flag, stripe, case, table, back])


def _darken(paint: Rgb) -> Rgb:
    """Return a darker shade of a colour, RGB in [0, 1]."""
    return (paint[0] * 0.72, paint[1] * 0.72, paint[2] * 0.72)


_MODELS: dict[FurnitureKind, tuple[Callable[[int], Quads], int]] = {
    "trash bin": (_trash_bin, 6),
    "fire hydrant": (_fire_hydrant, 2),
    "bench": (_bench, 3),
    "mailbox": (_mailbox, 2),
    "bollard": (_bollard, 4),
    "planter": (_planter, 6),
    "tree": (tree, 20),
    "street lamp": (_street_lamp, 4),
    "traffic light": (_traffic_light, 3),
    "parked car": (car, 27),
    "bicycle stand": (_bicycle_stand, 2),
    "bus stop": (_bus_stop, 3),
    "person": (person, PEOPLE * COMPANIES),
    "bicycle": (bicycle, 2),
    "car": (partial(car, driven=True), 27),
    "cafe table": (cafe_table, 2),
}
"""Function that makes a model of each kind of furniture by its variant, and the number of models."""

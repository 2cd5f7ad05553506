"""Meshes of trees: five species in four ages, near ones of leaf cards in shells, far ones as pictures."""

from typing import NamedTuple

import numpy as np

from virl.geo.globe import Floats
from virl.towns.plan.town_plan import Rgb
from virl.towns.render.cutouts import CROWNS
from virl.towns.render.mesh import CARD, FAR, FRONT_ONLY, Quads, join, quads, unit
from virl.towns.render.textures import TILE_INDEX


class Crown(NamedTuple):
    """Heights of a crown's foot and top and its radius in metres, and its widest place as a share of both."""

    foot: float
    height: float
    radius: float
    belly: float


class _Species(NamedTuple):
    """The shape and colours of a species.

    Args:
        tall: height as a factor on that of the age.
        wide: radius of the crown as a factor on that of the age.
        leaves: number of the tile of leaves.
        tint: of the leaves.
        bark: tint of the bark.
    """

    tall: float
    wide: float
    leaves: int
    tint: Rgb
    bark: Rgb


SPECIES = (
    _Species(1.00, 1.00, 0, (0.92, 0.98, 0.78), (0.85, 0.85, 0.85)),  # lime
    _Species(0.95, 1.22, 1, (1.02, 1.00, 0.74), (1.05, 1.02, 0.92)),  # plane
    _Species(1.05, 0.66, 0, (0.80, 0.92, 0.74), (0.80, 0.78, 0.78)),  # hornbeam
    _Species(1.00, 0.82, 0, (1.14, 1.10, 0.74), (1.75, 1.85, 2.05)),  # birch
    _Species(1.08, 0.92, 1, (0.66, 0.80, 0.80), (1.25, 0.95, 0.75)),  # pine
)
AGES = ((6.0, 1.35, 0.06), (8.2, 1.9, 0.10), (10.8, 2.5, 0.15), (14.0, 3.1, 0.20))
"""Height, radius of the crown and of the trunk, metres."""
SHELLS = ((1.0, 1.0, (20, 20, 21, 22)), (0.7, 0.78, (12, 13, 14, 16)), (0.4, 0.55, (8, 8, 9, 10)))
"""Each shell's share of the crown's reach, the light on it, and its number of leaf cards by age; chosen."""
FORK = 0.74
"""Height at which limbs leave the trunk, as a share of that of the crown's foot; chosen."""
CLUMP = 0.75
"""Radius of the clump of leaves on a card, as a share of half the card's side; chosen by eye."""


def crown_of(variant: int) -> Crown:
    """Return the crown of a tree of the given variant."""
    number = variant % len(SPECIES)
    species, (low, belly) = SPECIES[number], CROWNS[number]
    height, radius, _ = AGES[variant // len(SPECIES) % len(AGES)]
    return Crown(height * species.tall * low, height * species.tall, radius * species.wide, belly)


def tree(variant: int) -> Quads:
    """Return the quads of a tree of the given variant, metres."""
    number, age = variant % len(SPECIES), variant // len(SPECIES) % len(AGES)
    species, crown, trunk = SPECIES[number], crown_of(variant), AGES[age][2]
    rng = np.random.default_rng(50 + variant)
    return join(
        [
            _wood(rng, crown, trunk, species.bark),
            *(_shell(rng, species, crown, share, light, counts[age]) for share, light, counts in SHELLS),
            _flat_pictures(number, crown),
        ]
    )


def _wood(rng: np.random.Generator, crown: Crown, trunk: float, bark: Rgb) -> Quads:
    """Return a trunk of a radius in metres, and the three or four limbs that fork below the crown."""
    foot, height, radius, _ = crown
    fork = np.array([0.0, 0.0, FORK * foot])
    turns = rng.uniform(0, 6) + np.arange(rng.integers(3, 5)) * 1.9
    limbs = []
    for turn in turns.tolist():
        way = 0.42 * radius * np.array([np.cos(turn), np.sin(turn)])
        end = np.array([*way, height * rng.uniform(0.5, 0.68)])
        limbs.append(_limb(fork - (0, 0, 0.1), end, trunk * 0.62, trunk * 0.3, 3))
    stem = _limb(np.zeros(3), fork, trunk * 1.15, trunk * 0.8, 5)
    faces = np.concatenate([stem, *limbs])
    modes = [FRONT_ONLY] * len(stem) + [CARD] * (len(faces) - len(stem))
    return quads(faces, texture=TILE_INDEX["bark"], uv=(0.0, 0.0, 0.25, 2.0), paint=bark, mode=modes)


def _limb(low: Floats, high: Floats, thick: float, thin: float, sides: int) -> Floats:
    """Return the sides of a limb between two points, of radius `thick` at `low` and `thin` at `high`."""
    angle = np.arange(sides + 1) * 2 * np.pi / sides
    ring = np.stack([np.cos(angle), np.sin(angle), np.zeros(sides + 1)], axis=1)
    below, above = low + ring * thick, high + ring * thin
    return np.stack([below[:-1], below[1:], above[1:], above[:-1]], axis=1)


def _shell(
    rng: np.random.Generator, species: _Species, crown: Crown, share: float, light: float, count: int
) -> Quads:  # fmt: skip
    """Return `count` leaf cards around the crown at a share of its reach, in some light."""
    # Directions spread evenly by the golden angle.
    z = 1 - 2 * (np.arange(count) + 0.5) / count
    around = np.arange(count) * 2.39996 + rng.uniform(0, 6)
    flat = np.sqrt(1 - z * z)
    away = np.stack([flat * np.cos(around), flat * np.sin(around), z], axis=1)
    foot, height, radius, belly = crown
    deep = height - foot
    size = (0.34 * radius + 0.05 * deep) * rng.uniform(0.82, 1.12, (count, 1))
    reach = np.where(z > 0, deep * (1 - belly), deep * belly)
    place = away * share + rng.normal(0, 0.08, (count, 3))
    place /= np.maximum(np.linalg.norm(place, axis=1, keepdims=True), 1.0)
    # No clump of leaves stands out of the crown.
    place *= np.maximum(np.column_stack([np.full((count, 2), radius), reach]) - CLUMP * size, 0.0)
    place[:, 2] += foot + deep * belly
    facing = unit(away * (1.0, 1.0, 0.6) + rng.normal(0, 0.30, (count, 3)))
    side = unit(np.cross(facing, rng.normal(0, 1, (count, 3))))
    a, b = side * size, np.cross(facing, side) * size
    low = 0.78 + 0.22 * np.clip((place[:, 2:] - foot) / deep, 0, 1)
    tone = rng.uniform(0.92, 1.08, (count, 1)) * low * light
    return quads(
        np.stack([place - a - b, place + a - b, place + a + b, place - a + b], axis=1),
        texture=TILE_INDEX[f"leaves/{species.leaves}"], paint=tone * np.array(species.tint), mode=CARD,
        # Lit as the crown's surface, not each card by itself: plates would be seen.
        normal=0.75 * away + np.array([0.0, 0.0, 0.35]),
    )  # fmt: skip


def _flat_pictures(species: int, crown: Crown) -> Quads:
    """Return the flat pictures of a tree, one for each of eight directions from which it is seen."""
    turn = np.radians([22.5, 67.5, 112.5, 157.5])
    way = np.stack([np.cos(turn), np.sin(turn), np.zeros(4)], axis=1) * crown.radius * 1.12
    top = np.array([0.0, 0.0, crown.height * 1.02])
    # Almost level, so that the picture is lit alike from all sides.
    normal = np.stack([-0.1 * np.sin(turn), 0.1 * np.cos(turn), np.full(4, 0.75)], axis=1)
    return quads(
        np.stack([-way, way, way + top, -way + top], axis=1), texture=TILE_INDEX["far trees"],
        uv=(species % 4 * 0.25, species // 4 * 0.5, 0.25, 0.5), normal=normal, mode=FAR,
        paint=np.array(SPECIES[species].tint),
    )  # fmt: skip

"""What houses look like: colours and materials as tagged, else as usual for the kind and the town."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

import PIL.ImageColor

from virl.platform.providers.offline.plan import Rgb
from virl.platform.providers.osm.extract import Tags

COLOUR_KEYS = ("building:colour", "building:color", "building:facade:colour")
ROOF_COLOUR_KEYS = ("roof:colour", "roof:color")
SOFTENED = 0.12  # of white in a wall of a tagged colour: façades are paler than their names; chosen
TOLD_BY_TOWN = 10
"""Houses with a tagged material that a town needs, for others to be drawn like them; chosen."""

WALLS: Mapping[str, str] = {
    "brick": "brick", "bricks": "brick", "masonry": "brick", "brickwork": "brick", "clay": "brick",
    "stone": "stone", "sandstone": "stone", "limestone": "stone", "granite": "stone", "marble": "stone",
    "slate": "stone", "plaster": "plaster", "stucco": "plaster", "rendered": "plaster", "render": "plaster",
    "plastered": "plaster", "adobe": "plaster", "mud": "plaster", "loam": "plaster",
    "concrete": "concrete", "cement_block": "concrete", "cement": "concrete", "panel": "concrete",
    "reinforced_concrete": "concrete", "glass": "concrete", "mirror": "concrete", "steel": "concrete",
    "metal": "concrete", "metal_plates": "concrete", "aluminium": "concrete", "copper": "concrete",
    "gold": "concrete", "wood": "wood", "timber_framing": "wood", "timber": "wood", "vinyl": "wood",
    "tiles": "tiles", "tile": "tiles", "plastic": "tiles",
}  # fmt: skip
"""Values of `building:material`, and the wall of the renderer that is most like each; chosen."""

MATERIAL_RGB: Mapping[str, Rgb] = {
    "glass": (0.62, 0.72, 0.80), "mirror": (0.66, 0.74, 0.80), "steel": (0.66, 0.68, 0.70),
    "metal": (0.66, 0.68, 0.70), "metal_plates": (0.60, 0.62, 0.65), "aluminium": (0.76, 0.77, 0.79),
    "copper": (0.47, 0.66, 0.58), "gold": (0.83, 0.69, 0.33), "sandstone": (0.84, 0.74, 0.55),
    "marble": (0.92, 0.91, 0.88), "granite": (0.60, 0.57, 0.56), "slate": (0.40, 0.43, 0.47),
}  # fmt: skip
"""Colours of materials that have one of their own; chosen."""

ROOF_RGB: Mapping[str, Rgb] = {
    "roof_tiles": (0.58, 0.31, 0.23), "tile": (0.58, 0.31, 0.23), "tiles": (0.58, 0.31, 0.23),
    "brick": (0.55, 0.30, 0.24), "clay": (0.58, 0.31, 0.23), "slate": (0.32, 0.34, 0.38),
    "metal": (0.48, 0.50, 0.53), "tin": (0.55, 0.57, 0.60), "metal_sheet": (0.48, 0.50, 0.53),
    "zinc": (0.56, 0.59, 0.62), "steel": (0.48, 0.50, 0.53), "copper": (0.47, 0.66, 0.58),
    "concrete": (0.62, 0.62, 0.61), "stone": (0.50, 0.49, 0.47), "asphalt": (0.27, 0.27, 0.29),
    "asphalt_shingle": (0.31, 0.30, 0.31), "tar_paper": (0.24, 0.24, 0.26), "bitumen": (0.24, 0.24, 0.26),
    "eternit": (0.52, 0.53, 0.54), "fibre_cement": (0.52, 0.53, 0.54), "gravel": (0.60, 0.58, 0.55),
    "wood": (0.45, 0.34, 0.24), "thatch": (0.58, 0.49, 0.33), "grass": (0.36, 0.45, 0.24),
    "glass": (0.62, 0.72, 0.80), "plastic": (0.72, 0.74, 0.76), "solar_panels": (0.14, 0.18, 0.28),
    "gold": (0.83, 0.69, 0.33), "acrylic_glass": (0.68, 0.76, 0.82), "plants": (0.36, 0.45, 0.24),
}  # fmt: skip
"""Colours of `roof:material`; chosen."""

USUAL_WALLS: Mapping[str, tuple[str, ...]] = {
    "barn": ("wood",), "stable": ("wood",), "shed": ("wood",), "hut": ("wood",), "cabin": ("wood",),
    "farm_auxiliary": ("wood",), "cowshed": ("wood",), "boathouse": ("wood",),
    "garage": ("plaster", "concrete"), "garages": ("concrete", "plaster"), "carport": ("wood",),
    "house": ("plaster", "plaster", "plaster", "wood"), "detached": ("plaster", "plaster", "plaster", "wood"),
    "semidetached_house": ("plaster",), "terrace": ("plaster", "brick"), "bungalow": ("plaster", "wood"),
    "farm": ("plaster", "wood"), "church": ("stone", "plaster"), "cathedral": ("stone",),
    "chapel": ("plaster", "stone"), "mosque": ("stone",), "temple": ("stone",), "castle": ("stone",),
    "industrial": ("concrete", "tiles"), "warehouse": ("concrete", "tiles"), "parking": ("concrete",),
    "transformer_tower": ("concrete", "plaster"), "service": ("concrete", "plaster"),
}  # fmt: skip
"""Walls of the kinds of house that tell; chosen. All others are like the town's."""


@dataclass(frozen=True, slots=True)
class Outside:
    """Of one house: material and colour of its walls, and the colour of its roof; empty or `None` for any."""

    material: str
    paint: Rgb | None
    roof_paint: Rgb | None


@dataclass(frozen=True, slots=True)
class Looks:
    """How houses look, and which tags could not be read."""

    of_house: tuple[Outside, ...]
    unread: Mapping[str, int]
    """Tags such as `building:colour=light red`, and how many houses have each."""


def looks_of(tags: Sequence[Tags], names: Sequence[str]) -> Looks:
    """The looks of houses.

    Args:
        tags: of each house.
        names: of each; equal names look equal.
    """
    unread: Counter[str] = Counter()
    tagged = [_tagged(one, unread) for one in tags]
    town = [look.material for look in tagged if look.material]
    if len(town) < TOLD_BY_TOWN:
        town = []
    return Looks(
        tuple(
            look if look.material or look.paint else _usual(look, one, town, name)
            for look, one, name in zip(tagged, tags, names, strict=True)
        ),
        dict(unread),
    )


def colour(text: str) -> Rgb | None:
    """A CSS name or hex code, also with spaces or underscores in the name; `None` for anything else."""
    name = text.split(";", maxsplit=1)[0].strip().lower()
    if not name.startswith("#"):
        name = name.replace("_", "").replace(" ", "").replace("-", "")
        if not name.isalpha():
            return None
    try:
        red, green, blue, *_ = PIL.ImageColor.getrgb(name)
    except ValueError:
        return None
    return red / 255, green / 255, blue / 255


def _tagged(tags: Tags, unread: Counter[str]) -> Outside:
    named = _first_value(tags.get("building:material", ""))
    material = WALLS.get(named, "")
    if named and not material:
        unread[f"building:material={named}"] += 1
    paint = _colour_of(tags, COLOUR_KEYS, unread)
    if paint:
        red, green, blue = (part + (1 - part) * SOFTENED for part in paint)
        paint = red, green, blue
    roofing = _first_value(tags.get("roof:material", ""))
    if roofing and roofing not in ROOF_RGB:
        unread[f"roof:material={roofing}"] += 1
    roof_paint = _colour_of(tags, ROOF_COLOUR_KEYS, unread) or ROOF_RGB.get(roofing)
    return Outside(material, paint or MATERIAL_RGB.get(named), roof_paint)


def _colour_of(tags: Tags, keys: Sequence[str], unread: Counter[str]) -> Rgb | None:
    for key in keys:
        if key in tags:
            found = colour(tags[key])
            if found is None:
                unread[f"{key}={tags[key]}"] += 1
            return found
    return None


def _first_value(text: str) -> str:
    return text.split(";", maxsplit=1)[0].strip().lower().replace(" ", "_")


def _usual(look: Outside, tags: Tags, town: Sequence[str], name: str) -> Outside:
    choices = USUAL_WALLS.get(tags.get("building", ""), town)
    if not choices:
        return look
    return Outside(Random(f"walls of {name}").choice(choices), look.paint, look.roof_paint)

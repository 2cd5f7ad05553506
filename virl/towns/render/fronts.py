"""Fronts of shops and institutions: display windows, doors, fascias, awnings, and what stands before them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from virl.geo.globe import Floats, Ints
from virl.towns.plan.town_plan import Frontage, Rgb, Shop
from virl.towns.render.displays import KINDS, TILE_M, goods_of, kind_of, symbol_cell
from virl.towns.render.mesh import (
    FRONT_ONLY,
    TWO_SIDED,
    Quads,
    box,
    join,
    ledge,
    outward,
    place_copies,
    quads,
    repeats,
    take,
    upright,
)
from virl.towns.render.storefronts import FRONT_TOP_M, STONE_M, colours
from virl.towns.render.textures import TILE_INDEX

PROUD_M = 0.06
"""Distance in metres that a front stands before the wall."""
MARGIN_M = 0.12
RISER_M, POST_M, DOOR_M = (0.5, 0.85), (0.22, 0.5), (1.15, 1.7)
"""Heights of the wall under the glass, widths of posts and of doors, metres: of a shop, of a portal."""
GLASS_TOP_M = 2.65
NARROWEST_M = 0.35
"""Width in metres below which there is no glass."""
CORNICE_M = (0.22, 0.15)
"""Distance in metres that the cornice stands out, and its height."""
FASCIA_M = 0.045
"""Distance in metres that the board behind a sign stands out before the front, less than the sign."""
AWNING_M = (0.9, 0.52, 0.20)
"""Distances in metres that an awning reaches out, falls, and hangs down."""
PLATE_M, HOURS_M = (0.5, 1.68), (0.26, 1.3)
"""Size in metres and height above the ground of the symbol on the glass, and of the opening hours."""
BOARD_M = (0.6, 0.95, 0.22)
"""Width, height and half the spread at the foot of a board on the pavement, metres."""
BEFORE_M = 0.75
"""Distance in metres from the front to the middle of what stands before it."""
ASIDE_M = 0.8
"""Distance in metres from the door to what stands beside it."""
BRASS: Rgb = (0.40, 0.31, 0.14)
OAK: Rgb = (0.42, 0.29, 0.18)
"""Paint of the door of a church."""
PAINTS = np.array(
    [[0.13, 0.14, 0.15], [0.30, 0.20, 0.13], [0.12, 0.22, 0.18], [0.52, 0.53, 0.52], [0.80, 0.77, 0.70],
     [0.16, 0.22, 0.30], [0.44, 0.36, 0.28], [0.34, 0.10, 0.11]]
)  # fmt: skip
"""Paints of fronts that do not have the colour of their sign."""
STONES = np.array([[0.86, 0.82, 0.75], [0.74, 0.72, 0.69], [0.92, 0.87, 0.76]])
_TUB = box((-0.2, 0.2), (-0.2, 0.2), (0.0, 0.4), inset=-0.04)
_SHRUB = box((-0.26, 0.26), (-0.26, 0.26), (0.4, 1.05), inset=0.06)
POT = join(
    [
        quads(_TUB, paint=(0.30, 0.30, 0.31)),
        quads(_SHRUB, texture=TILE_INDEX["hedge"], uv=(0, 0, 0.3, 0.4)),
    ]
)
"""A clipped shrub in a pot."""


@dataclass(frozen=True, slots=True)
class _Fronts:
    """Fronts of places as arrays of length n."""

    left: Floats
    """Left end as seen from the street, metres, shape (n, 2)."""
    along: Floats
    """Unit vector from left to right, shape (n, 2)."""
    out: Floats
    """Unit vector towards the street, shape (n, 2)."""
    width: Floats
    """Width of each front, metres."""
    sign: Floats
    """Heights of the sign's lower and upper edge, metres, shape (n, 2)."""
    top: Floats
    """Height of the front's top, metres."""
    variant: Ints
    paint: Floats
    """Colour of each front, RGB in [0, 1], shape (n, 3)."""
    board: Floats
    """Colour of each sign's board, shape (n, 3)."""
    goods: Ints
    """Texture of the display windows."""
    symbol: Floats
    """Texture coordinates of the symbol, shape (n, 4)."""
    plate: Floats
    """Colour of the symbol's board, shape (n, 3)."""
    has_awning: NDArray[np.bool_]
    is_portal: NDArray[np.bool_]
    door: Floats
    """Metres from the left end to the door, and its width, shape (n, 2)."""

    def panel(self, a: Floats, b: Floats, bottom: object, top: object, out: float = 0.0) -> Floats:
        """Return corners of upright rectangles from `a` to `b` metres along the fronts, `out` before them."""
        ahead = self.out * (PROUD_M + out)
        left = self.left + self.along * a[:, None] + ahead
        right = self.left + self.along * b[:, None] + ahead
        return upright(left, right, np.asarray(bottom, float), np.asarray(top, float))

    def of(self, sizes: tuple[float, float]) -> Floats:
        """Return for each front the size of a shop, or that of a portal."""
        return np.where(self.is_portal, sizes[1], sizes[0])


def storefront_mesh(shops: Sequence[Shop], frontages: Mapping[int, Frontage]) -> Quads:
    """Return the quads of all fronts of places in buildings, without signs."""
    housed = [s for s in shops if s.frontage in frontages and frontages[s.frontage].building is not None]
    if not housed:
        return join([])
    fronts = _fronts(housed, frontages)
    return join(
        [_frame(fronts), *_panes(fronts), _awnings(fronts), *_plates(fronts), *_place_beside_doors(fronts)]
    )


def _fronts(shops: Sequence[Shop], frontages: Mapping[int, Frontage]) -> _Fronts:
    """Return the fronts of places, their goods and symbols by the places' types, colours by the signs."""
    left = np.array([frontages[shop.frontage].left for shop in shops])
    right = np.array([frontages[shop.frontage].right for shop in shops])
    length = np.linalg.norm(right - left, axis=1)
    width = length - 2 * MARGIN_M
    variant = np.array([shop.variant for shop in shops], np.int64)
    names = [kind_of(shop.place.types) for shop in shops]
    looks = [KINDS[name] for name in names]
    sign, board = np.full((len(shops), 2), (2.95, 3.8)), np.full((len(shops), 3), 0.4)
    strong = PAINTS[variant % 2]
    for i, shop in enumerate(shops):
        for one in shop.signs[:1]:
            sign[i] = one.bottom, one.top
            board[i], ink = colours(one)
            # A pale board goes with a front in the colour of its letters.
            strong[i] = board[i] if board[i].sum() < 2.0 else ink
    is_portal = np.array([look.portal for look in looks])
    has_own = (variant // 45 % 3 == 0)[:, None]
    own = np.where(has_own, strong * 0.85 + 0.05, PAINTS[variant // 135 % len(PAINTS)])
    post = np.where(is_portal, POST_M[1], POST_M[0])
    wide = np.where(is_portal & (width - 2 * post >= DOOR_M[1]), DOOR_M[1], DOOR_M[0])
    place = np.where(is_portal, 0.5, np.array([0.0, 0.5, 1.0])[variant % 3])
    awnings = np.array([look.awning for look in looks])
    plate = [look.paint or tuple(one) for look, one in zip(looks, strong, strict=True)]
    along = (right - left) / length[:, None]
    return _Fronts(
        left=left + along * MARGIN_M,
        along=along,
        out=outward(left, right),
        width=width,
        sign=sign,
        top=np.minimum(sign[:, 1] + 0.08 + CORNICE_M[1], FRONT_TOP_M),
        variant=variant,
        paint=np.where(is_portal[:, None], STONES[variant % len(STONES)], np.clip(own, 0, 1)),
        board=board,
        goods=np.array([TILE_INDEX[f"display/{goods_of(shop.place.types)}"] for shop in shops]),
        symbol=np.array([symbol_cell(name) for name in names]),
        plate=np.where(is_portal[:, None], BRASS, plate),
        has_awning=awnings & (variant // 3 % 5 < 3) & (sign[:, 0] > GLASS_TOP_M + 0.12),
        is_portal=is_portal,
        door=np.column_stack([post + place * (width - 2 * post - wide), wide]),
    )


def _frame(f: _Fronts) -> Quads:
    """Return the quads of posts, walls under the glass, fascias and cornices."""
    zero, stone = np.zeros_like(f.width), np.where(f.is_portal, TILE_INDEX["wall/stone"], -1)
    riser, post = f.of(RISER_M), f.of(POST_M)
    tiled = np.where(f.has_awning & (f.variant % 2 == 0), TILE_INDEX["wall/tiles"], stone)
    sheets = [
        (zero, f.width, zero, riser, 0.0, tiled, 0.8),
        (zero, f.width, zero + GLASS_TOP_M, f.top, 0.0, stone, 0.94),
        (zero, f.width, f.top - CORNICE_M[1], f.top, CORNICE_M[0], stone, 1.05),
    ]
    sheets += [(a, a + post, zero, f.top - CORNICE_M[1], 0.08, stone, 1.0) for a in (zero, f.width - post)]
    parts = []
    for a, b, low, high, out, texture, tone in sheets:
        uv = np.stack([a, low, b - a, high - low], axis=1) / STONE_M
        paint = np.clip(f.paint * tone, 0, 1)
        parts.append(quads(f.panel(a, b, low, high, out), uv=uv, texture=texture, paint=paint))
    low, high = f.sign[:, 0] - 0.07, f.top - CORNICE_M[1]
    fascia = f.panel(post, f.width - post, low, high, FASCIA_M)
    parts.append(take(quads(fascia, paint=f.board), ~f.is_portal))
    left, right = f.left, f.left + f.along * f.width[:, None]
    ends = left + f.out * PROUD_M, right + f.out * PROUD_M
    parts.append(quads(ledge(*ends, f.out, CORNICE_M[0], high), paint=f.paint * 0.6))
    ahead = f.out * (PROUD_M + 0.08)
    sides = (left, left + ahead), (right + ahead, right)
    parts += [quads(upright(*side, 0.0, high), paint=f.paint * 0.9) for side in sides]
    return join(parts)


def _panes(f: _Fronts) -> list[Quads]:
    """Return the quads of the doors and the glass of fronts, which shows one sort of goods each."""
    a, b = f.door[:, 0], f.door.sum(axis=1)
    post, riser = f.of(POST_M), f.of(RISER_M)
    corners = f.panel(a, b, 0.0, GLASS_TOP_M, 0.01)
    is_nave = f.goods == TILE_INDEX["display/nave"]
    texture = np.where(is_nave, TILE_INDEX["church door"], TILE_INDEX["shop door"])
    paint = np.where(is_nave[:, None], OAK, f.paint * 0.9)
    parts = [quads(corners, texture=texture, paint=paint)]
    # No sun falls on what is under an awning, as on a face without a direction.
    light = np.where(f.has_awning[:, None], 0.0, np.column_stack([f.out, np.zeros(len(a))]))
    for low, high in ((post, a), (b, f.width - post)):
        which = high - low > NARROWEST_M
        uv = repeats(np.maximum(1.0, np.rint(2 * (high - low)[which] / TILE_M)) / 2, 1.0)
        glass = f.panel(low, high, riser, GLASS_TOP_M, 0.01)[which]
        parts.append(
            quads(
                glass, uv=uv, texture=f.goods[which], paint=f.paint[which] * 0.9, normal=light[which],
                mode=np.where(f.has_awning, TWO_SIDED, FRONT_ONLY)[which], seed=f.variant[which],
            )
        )  # fmt: skip
    return parts


def _awnings(f: _Fronts) -> Quads:
    """Return the quads of the awnings under the signs of some shops."""
    reach, fall, valance = AWNING_M
    which = np.flatnonzero(f.has_awning)
    left = (f.left + f.out * 0.1)[which]
    right = left + f.along[which] * f.width[which][:, None]
    ahead = f.out[which] * reach
    top = f.sign[which, 0] - 0.08
    low = top - fall
    cloth = upright(left, right, low, top)
    cloth[:, :2, :2] += ahead[:, None, :]
    uv = repeats(np.rint(f.width[which] / 1.6), 1.0)
    tile = np.where(f.variant[which] // 15 % 3 > 0, TILE_INDEX["awning/4"], TILE_INDEX["awning/0"])
    paint = np.clip(f.board[which] * 0.75 + f.paint[which] * 0.25, 0, 1)
    front = upright(left + ahead, right + ahead, low - valance, low)
    below = cloth[:, [1, 0, 3, 2]] - np.array([0, 0, 0.02])
    parts = [
        quads(cloth, uv=uv, texture=tile, paint=paint),
        quads(front, uv=uv, texture=tile, paint=paint * 0.95),
        quads(below, uv=uv, texture=tile, paint=paint * 0.75),
    ]
    for side in (left, right):
        cheek = upright(side + ahead, side, low - valance, top)
        cheek[:, 3, 2] = low
        parts.append(quads(cheek, paint=paint * 0.85, mode=TWO_SIDED))
    return join(parts)


def _plates(f: _Fronts) -> list[Quads]:
    """Return the quads of symbols on the glass beside the doors, and of opening hours."""
    after = f.door.sum(axis=1) + 0.12
    fits = after + PLATE_M[0] < f.width - f.of(POST_M)
    start = np.where(fits, after, f.door[:, 0] - 0.12 - PLATE_M[0])
    shown = (start > 0.1) & (f.width > 3.0)
    parts = []
    for (size, low), uv in ((PLATE_M, f.symbol), (HOURS_M, np.array(symbol_cell("hours")))):
        corners = f.panel(start, start + size, low, low + size, 0.03)
        plates = quads(corners, uv=uv, texture=TILE_INDEX["symbols"], paint=f.plate)
        parts.append(take(plates, shown))
    return parts


def _place_beside_doors(f: _Fronts) -> list[Quads]:
    """Return the quads of boards and of shrubs in pots beside the doors of two shops in five."""
    beside = f.door.sum(axis=1) + ASIDE_M
    at = np.where(beside < f.width, beside, f.door[:, 0] - ASIDE_M)
    spot = f.left + f.along * at[:, None] + f.out * BEFORE_M
    free = (at > 0) & ~f.is_portal
    plants = free & (f.variant // 7 % 5 == 0)
    pots, _ = place_copies(POT, spot[plants, 0], spot[plants, 1], np.zeros(int(plants.sum())))
    which = free & (f.variant // 7 % 5 == 1)
    wide, high, spread = BOARD_M
    uv, paint = symbol_cell("chalk"), f.plate[which]
    parts = [pots]
    for side in (-1.0, 1.0):
        foot, across = spot[which] + f.out[which] * spread * side, f.along[which] * wide / 2 * side
        board = upright(foot - across, foot + across, 0.04, high)
        board[:, 2:, :2] -= (f.out[which] * spread * side)[:, None]
        parts.append(quads(board, uv=uv, texture=TILE_INDEX["symbols"], paint=paint, mode=TWO_SIDED))
    return parts

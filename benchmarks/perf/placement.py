"""Do the signs of a town hang where its places are, and can they be read from where panoramas stand?

Of the places that would have a front it prints the share with a sign of their own at most 15 m from the point
where they are mapped, and seen from a panorama; of all signs, the share of which a panorama
shows at least half, and the share whose board is 12 pixels high there, in a view of 640 x 640 pixels and 60
degrees; and the same of the lines of directories:
`python -m benchmarks.perf.placement --city FILE.osm.pbf [--limit N]`.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, degrees, hypot
from random import Random

import numpy as np
from scipy.spatial import cKDTree

from virl.geo.globe import Floats
from virl.platform.city.streetview import Camera
from virl.towns.plan.town_plan import CAMERA_HEIGHT_M, CityPlan, Shop, Sign
from virl.towns.render.renderer import CityRenderer

from .figures import Figures, command, figures
from .plans import fronted_plan

NEAR_M, SEEN_FROM_M, LOOKS = 15.0, 40.0, 8
HALF, READABLE_PX = 0.5, 12


@dataclass(frozen=True, slots=True)
class Sighting:
    """The best view of a sign from a panorama: height in pixels, visible share; 0 if none shows it."""

    pixels: float
    share: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Print how many places have a sign nearby, and how many signs can be seen and read; return 0."""
    parser = command(__doc__)
    parser.add_argument("--city", default="virlton", help="a made city, or an OpenStreetMap extract")
    parser.add_argument("--limit", type=int, help="look at only this many signs, drawn by chance")
    options = parser.parse_args(arguments)
    with figures(options) as found:
        _measure(options, found)
    return 0


def _measure(options: argparse.Namespace, found: Figures) -> None:
    """Record and print which shops have signs, and how many signs can be seen and read from a panorama."""
    plan, wanting = fronted_plan(options.city)
    listed = [shop for shop in wanting if shop.is_on_directory]
    signed = [shop for shop in wanting if shop.has_own_sign]
    looks = _Spectator(plan)
    drawn = Random(0).sample(signed, min(options.limit or len(signed), len(signed)))
    own = [[looks.at(sign) for sign in shop.signs] for shop in drawn]
    seen = [any(look.share >= HALF for look in each) for each in own]
    is_near = [_metres_from_sign(plan, shop) <= NEAR_M for shop in drawn]
    weight = len(signed) / max(len(drawn), 1) / max(len(wanting), 1)
    found |= {
        "places": len(plan.shops),
        "fronted": len(wanting),
        "signed": len(signed),
        "on_directory": len(listed),
        "unsigned": len(wanting) - len(signed) - len(listed),
        "near": weight * sum(is_near),
        "near_and_seen": weight * sum(near and look for near, look in zip(is_near, seen, strict=True)),
        **_summarize_looks([look for each in own for look in each]),
    }
    lines = Random(0).sample(listed, min(options.limit or len(listed), len(listed)))
    found["directory"] = _summarize_looks([looks.at(sign) for shop in lines for sign in shop.signs])
    found.show(
        f"{found['places']} places, {found['fronted']} would have a front: {found['signed']} have a sign,"
    )
    found.show(f"  {found['on_directory']} are on a directory, {found['unsigned']} have none")
    found.show(
        f"at most {NEAR_M:.0f} m from the point: {found['near']:.1%}; and seen: {found['near_and_seen']:.1%}"
    )
    for name, part in (("signs", found), ("lines on directories", found["directory"])):
        found.show(f"{part['looks']} {name}: half to be seen from a panorama: {part['half_seen']:.1%}")
        found.show(f"  {READABLE_PX} pixels high there: {part['readable']:.1%}")


def _summarize_looks(looks: Sequence[Sighting]) -> dict[str, float]:
    """Return the number of sightings, and the shares half seen and readable, [0, 1]."""
    return {
        "looks": len(looks),
        "half_seen": sum(look.share >= HALF for look in looks) / max(len(looks), 1),
        "readable": sum(look.pixels >= READABLE_PX for look in looks) / max(len(looks), 1),
    }


def _metres_from_sign(plan: CityPlan, shop: Shop) -> float:
    """Return the metres from the mapped point of a shop to the nearest of its signs."""
    x, y = plan.layout.frame.point(shop.place.position)
    middles = (np.add(sign.left, sign.right) / 2 for sign in shop.signs)
    return min(hypot(east - x, north - y) for east, north in middles)


class _Spectator:
    """A spectator that looks at a town's signs from the panoramas around them."""

    def __init__(self, plan: CityPlan) -> None:
        """Prepare to draw views from the panoramas of a town."""
        self._panoramas = plan.layout.panoramas
        self._tree = cKDTree(self._panoramas.xy)
        self._renderer = CityRenderer(plan)

    def at(self, sign: Sign) -> Sighting:
        """Return the best view of a sign: one with half of it or more, then with the most pixels."""
        left, right = np.array(sign.left), np.array(sign.right)
        middle = (left + right) / 2
        away, around = self._tree.query(middle, LOOKS, distance_upper_bound=SEEN_FROM_M)
        found = [
            self._look(sign, middle, int(number), float(metres))
            for metres, number in zip(away, around, strict=True)
            if np.isfinite(metres)
        ]
        return max(found, key=lambda look: (look.share >= HALF, look.pixels), default=Sighting(0, 0))

    def _look(self, sign: Sign, middle: Floats, panorama: int, metres: float) -> Sighting:
        """Return the view of a sign, with its middle at `middle`, from a panorama `metres` away."""
        x, y = self._panoramas.xy[panorama]
        heading = degrees(atan2(middle[0] - x, middle[1] - y)) % 360
        pitch = degrees(atan2((sign.bottom + sign.top) / 2 - CAMERA_HEIGHT_M, max(metres, 1.0)))
        camera = Camera(heading, max(-60.0, min(60.0, pitch)), 60.0, 640, 640)
        shown = self._renderer.visible(float(x), float(y), camera, 12, ["sign"])
        mine = next((one for one in shown if one.id == sign.id), None)
        if mine is None:
            return Sighting(0, 0)
        return Sighting(mine.box[3] - mine.box[1], mine.visible_fraction)


if __name__ == "__main__":
    sys.exit(main())

"""Can the signs of a city be read, and what does reading cost?

Stands 8 to 12 m before every fascia and board whose name is in Latin script, faces it, reads the view with
the default reader, and prints the share of names read, the time a view takes at rapidocr's defaults and at
ours, and the worst misses: `python -m benchmarks.perf.signs [--limit N] [--save DIR]`.
With `--city FILE.osm.pbf` the signs are those of a rebuilt town, in all scripts, with lines on directories;
the names read are counted by kind of sign and by script.
"""

import argparse
import re
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import atan2, cos, degrees, hypot, radians, sin
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import numpy as np
import rapidocr
import shapely
from PIL import Image as Pictures
from rapidfuzz.distance import Levenshtein

from virl.platform.city.streetview import Camera, Image
from virl.platform.perception.base import Reader, TextLine
from virl.platform.perception.models import Models
from virl.platform.perception.signs import group_lines
from virl.towns.plan.town_plan import CAMERA_HEIGHT_M, CityPlan, Point, Sign, StreetPlan
from virl.towns.render.renderer import CityRenderer

from .figures import Figures, command, figures
from .plans import plan_of

MADE = "virlton"
READ = 0.2  # normalised edit distance up to which a name counts as read
WANTED = 0.9  # share of names to be read
FOV = 60.0
WHOLE = 0.85  # share of a sign's pixels that counts as all of it: posts hide up to 0.15 of a board
SPOTS = [(turn, metres) for turn in (0, 10, -10, 20, -20, 30, -30) for metres in (10, 9, 11, 8, 12)]
"""Spots to stand, the best first: (degrees from the sign's normal, metres from it)."""
TALL = {"tree", "street lamp", "traffic light"}
STEM_M = 0.6  # half of the width that a tall thing is taken to hide


@dataclass(frozen=True, slots=True)
class Reading:
    """A sign that was looked at and read."""

    sign: Sign
    camera: Camera
    picture: Image
    best: str
    """Text read in the view that is nearest to the sign's name; may be empty."""
    error: float
    """Normalised edit distance of the best text to the name, [0, 1]."""
    plain_error: float
    """Normalised edit distance without regard to accents, [0, 1]."""


class Streets:
    """The buildings and stems that can stand between a reader and a sign."""

    def __init__(self, layout: StreetPlan) -> None:
        """Prepare the buildings, trees and posts of a town for queries."""
        self._buildings = shapely.STRtree([building.footprint for building in layout.buildings])
        stems = [shapely.Point(thing.x, thing.y) for thing in layout.furniture if thing.kind in TALL]
        self._stems = shapely.STRtree([stem.buffer(STEM_M) for stem in stems])

    def spots(self, sign: Sign) -> Iterator[tuple[Point, float]]:
        """Yield (spot from which nothing hides the sign, heading to it in degrees), the best first."""
        (x0, y0), (x1, y1) = sign.left, sign.right
        middle = ((x0 + x1) / 2, (y0 + y1) / 2)
        normal = atan2(-(x1 - x0), y1 - y0)
        for turn, metres in SPOTS:
            angle = normal + radians(turn)
            spot = (middle[0] + metres * cos(angle), middle[1] + metres * sin(angle))
            sight = shapely.Polygon([spot, _inset(spot, sign.left), _inset(spot, sign.right)])
            if not len(self._buildings.query(sight, "intersects")) and not len(
                self._stems.query(sight, "intersects")
            ):
                yield spot, degrees(atan2(middle[0] - spot[0], middle[1] - spot[1]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 1 if too few names could be read, else 0."""
    options = _parse_options(arguments)
    with figures(options) as found:
        return _measure(options, found)


def _measure(options: argparse.Namespace, found: Figures) -> int:
    """Record and print how many signs are read; return 1 if too few Latin ones are, else 0."""
    plan = plan_of(options.city or MADE)
    signs = [
        sign
        for shop in plan.shops
        for sign in shop.signs
        if sign.kind != "blade" and (options.city or is_latin(sign.text))
    ]
    Random(options.seed).shuffle(signs)
    readings = list(look(plan, signs[: options.limit], Models().reader("rapidocr")))
    _report(found, readings, len(signs[: options.limit]))
    if options.timed:
        _report_cost(found, [reading.picture for reading in readings[: options.timed]])
    worst = sorted((r for r in readings if r.error > READ), key=lambda reading: -reading.error)
    for miss in worst[: options.worst]:
        found.show(f"  {miss.error:.2f}  {miss.sign.kind:6}  {miss.sign.text!r} read as {miss.best!r}")
    if options.save:
        _save_misses(worst, options.save)
        found.show(f"{len(worst)} pictures of misses in {options.save}")
    latin = [reading.error for reading in readings if _is_hung(reading) and is_latin(reading.sign.text)]
    return 0 if _read_share(latin) >= WANTED else 1


def is_latin(text: str) -> bool:
    """Return whether all letters of a text are Latin ones."""
    return all(unicodedata.name(letter, "").startswith("LATIN") for letter in text if letter.isalpha())


def script_of(text: str) -> str:
    """Return the script of a text's letters, such as `latin`; `mixed` for several, `none` without letters."""
    found = {unicodedata.name(letter, "?").split()[0].lower() for letter in text if letter.isalpha()}
    return next(iter(found), "none") if len(found) < 2 else "mixed"


def look(plan: CityPlan, signs: Iterable[Sign], reader: Reader) -> Iterator[Reading]:
    """Yield a reading of each sign, taken from a spot before it; signs hidden from all spots are left out.

    Args:
        plan: of the city.
        signs: to read.
        reader: of text.
    """
    streets, renderer = Streets(plan.layout), CityRenderer(plan)
    for sign in signs:
        found = _best(streets, renderer, sign)
        if found is None:
            continue
        (x, y), camera = found
        picture = renderer.picture(x, y, camera)
        (lines,) = reader.read([picture])
        best = min(_texts(lines), key=lambda text: error(text, sign.text), default="")
        plain = min(
            (error(_without_accents(text), _without_accents(sign.text)) for text in _texts(lines)),
            default=1.0,
        )
        yield Reading(sign, camera, picture, best, error(best, sign.text), plain)


def _best(streets: Streets, renderer: CityRenderer, sign: Sign) -> tuple[Point, Camera] | None:
    """Return (spot, camera) of a view with most of the sign, as awnings may hide parts; `None` if hidden."""
    best, most = None, -1.0
    for (x, y), heading in streets.spots(sign):
        away = hypot((sign.left[0] + sign.right[0]) / 2 - x, (sign.left[1] + sign.right[1]) / 2 - y)
        pitch = degrees(atan2((sign.bottom + sign.top) / 2 - CAMERA_HEIGHT_M, away))
        camera = Camera(heading, pitch, FOV, 640, 640)
        shown = renderer.visible(x, y, camera, 12, ["sign"])
        share = next((one.visible_fraction for one in shown if one.id == sign.id), 0.0)
        if share > most:
            best, most = ((x, y), camera), share
        if share >= WHOLE:
            break
    return best


def error(read: str, name: str) -> float:
    """Return the edit distance of two texts over the longer one's length, [0, 1]; case does not count."""
    return Levenshtein.normalized_distance(_normalize_text(read), _normalize_text(name))


def _texts(lines: list[TextLine]) -> Iterator[str]:
    """Yield every run of lines within each sign, as names may have taglines and several lines."""
    for sign in group_lines(lines):
        for first, last in combinations(range(len(sign) + 1), 2):
            yield " ".join(line.text for line in sign[first:last])


def _normalize_text(text: str) -> str:
    """Return a text in lower case with single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _without_accents(text: str) -> str:
    """Return a text without accents on its letters."""
    return re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFD", text))


def _inset(spot: Point, end: Point) -> Point:
    """Return the end of a sign moved a little towards the reader, off the wall that it hangs on."""
    return end[0] + 0.03 * (spot[0] - end[0]), end[1] + 0.03 * (spot[1] - end[1])


def _report(found: Figures, readings: list[Reading], asked: int) -> None:
    """Record and print the shares of signs read, by kind of sign and by script; `asked`: number of signs."""
    found.show(f"{len(readings)} of {asked} signs can be stood before at 8 to 12 m with nothing in the way")
    hung = [reading for reading in readings if _is_hung(reading)]
    share, plain = _read_share(r.error for r in hung), _read_share(r.plain_error for r in hung)
    found |= {"signs": len(readings), "read": share, "read_accents_aside": plain}
    found.show(f"names read to an edit distance of {READ:g}: {share:.1%} (accents aside: {plain:.1%})")
    for kind in ("fascia", "board", "directory"):
        of_kind = [reading.error for reading in readings if reading.sign.kind == kind]
        if kind != "directory" or of_kind:
            found[f"read_{kind}"] = _read_share(of_kind)
            found.show(f"  {kind}: {_read_share(of_kind):.1%} of {len(of_kind)}")
    scripts = Counter(script_of(reading.sign.text) for reading in hung)
    found["read_by_script"] = {
        script: _read_share(reading.error for reading in hung if script_of(reading.sign.text) == script)
        for script, _ in scripts.most_common()
    }
    for script, part in found["read_by_script"].items():
        found.show(f"  {script}: {part:.1%} of {scripts[script]}")


def _is_hung(reading: Reading) -> bool:
    """Return whether a sign is a place's own, not a line on a directory."""
    return reading.sign.kind != "directory"


def _report_cost(found: Figures, pictures: list[Image]) -> None:
    """Record and print the seconds a view of virl's reader and of rapidocr's defaults, taken in turns."""
    default = rapidocr.RapidOCR(params={"Global.log_level": "critical"})
    ours = Models().reader("rapidocr")

    def by_default(picture: Image) -> Any:
        """Return the text that rapidocr reads in a picture with its defaults."""
        return default(np.ascontiguousarray(picture[..., ::-1]))

    warm_up = np.zeros_like(pictures[0])
    by_default(warm_up)
    ours.read([warm_up])
    times = [
        (_time_reading(lambda p: ours.read([p]), picture), _time_reading(by_default, picture))
        for picture in pictures
    ]
    fast, slow = (median(column) for column in zip(*times, strict=True))
    found["seconds_a_view"] = {"virl": fast, "rapidocr's defaults": slow}
    found.show(
        f"a view costs {fast:.3f} s, at rapidocr's defaults {slow:.3f} s ({slow / fast:.1f} times as much)"
    )


def _time_reading(read: Callable[[Image], Any], picture: Image) -> float:
    """Return the seconds that reading a picture takes."""
    start = time.perf_counter()
    read(picture)
    return time.perf_counter() - start


def _read_share(errors: Iterable[float]) -> float:
    """Return the share of edit distances that count as read, [0, 1]; 0 without any."""
    counted = list(errors)
    return sum(error <= READ for error in counted) / max(len(counted), 1)


def _save_misses(misses: list[Reading], folder: Path) -> None:
    """Write the pictures of signs that were not read into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for miss in misses:
        name = re.sub(r"\W+", "-", f"{miss.error:.2f} {miss.sign.text} read {miss.best}").strip("-")
        Pictures.fromarray(miss.picture).save(folder / f"{name[:100]}.png")


def _parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = command(__doc__)
    parser.add_argument("--seed", type=int, default=1, help="random seed of the signs that --limit draws")
    parser.add_argument("--limit", type=int, help="read only this many signs, chosen at random")
    parser.add_argument("--city", help="an OpenStreetMap extract; by default Virlton")
    parser.add_argument("--timed", type=int, default=15, help="number of views to time both ways; 0 for none")
    parser.add_argument("--worst", type=int, default=15, help="number of misses to list")
    parser.add_argument("--save", type=Path, metavar="DIR", help="folder for pictures of the misses")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())

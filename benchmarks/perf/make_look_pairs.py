r"""Do views look more like photographs than those of an older state? Pairs for blind readers.

    python -m benchmarks.perf.make_look_pairs OUT --before FOLDER --towns virlton virlmouth helsinki \
        "liechtenstein.osm.pbf@47.1410,9.5209,900" moscow.osm.gz village

This draws 24 pairs: four in each of Virlton, Virlmouth, Helsinki, Vaduz, a part of Moscow, and a village.
`FOLDER` is a worktree of the older state, whose Python runs there. Positions are drawn by the seed from the
panoramas of each town (`village` is an `.osm` file that is made here), with headings along the street, give
or take 40 degrees. `--skip 3 17` names draws that are unusable, by their number in `key.json`; the next
draw takes its place. `OUT/pairs` and `OUT/swapped` receive a picture of each pair, old and new side by side
in an order that the seed draws, and `OUT/key.json` the answers. `OUT/looks.webp` is the sheet of eight of
them for the docs.

Both states run `--draw FILE`: it reads views as JSON, [town, panorama, heading], and draws them.
"""

import argparse
import json
import subprocess  # nosec B404
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import cv2
import numpy as np

from virl import open_city
from virl.platform.city.interchange import held_street_map
from virl.platform.city.streetview import Camera, Image

TURN_DEG = 40.0
"""Most degrees between a street and the heading of a view."""
SIDE, GAP = 640, 16
"""Pixels of a picture, and between the two of a pair."""
SHOWN, SMALL = 8, 300
"""Pairs on the sheet for the docs, and pixels of a picture there."""

ViewPlace = tuple[str, str, float]
"""Town, id of the panorama, and heading in degrees."""


def main() -> None:
    """Draw the pairs, or the views of one state."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--before", type=Path, help="worktree of the older state")
    parser.add_argument("--towns", nargs="+", default=["virlton", "village"], help="where to look")
    parser.add_argument("--each", type=int, default=4, help="positions in each town")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--skip", nargs="*", type=int, default=(), help="numbers of draws that are unusable")
    parser.add_argument("--draw", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.draw:
        draw_views(
            [(town, name, heading) for town, name, heading in json.loads(given.draw.read_text())], given.out
        )
        return
    if not given.before:
        parser.error("give --before FOLDER, a worktree of the older state")
    given.out.mkdir(parents=True, exist_ok=True)
    towns = [write_village(given.out) if town == "village" else town for town in given.towns]
    views = choose_views(towns, given.each, given.seed, set(given.skip))
    listed = given.out / "views.json"
    listed.write_text(json.dumps(list(views.values())), "utf-8")
    states = (given.before, Path.cwd())
    for name, folder in zip(("old", "new"), states, strict=True):
        command = [sys.executable, "-m", "benchmarks.perf.make_look_pairs", str((given.out / name).resolve())]
        subprocess.run([*command, "--draw", str(listed.resolve())], cwd=folder, check=True)  # noqa: S603 # nosec B603
    pair(given.out, list(views), np.random.default_rng(given.seed))
    write_sheet(given.out)


def choose_views(towns: Sequence[str], each: int, seed: int, skipped: set[int]) -> dict[int, ViewPlace]:
    """Return views by the numbers of their draws.

    Args:
        towns: names or files.
        each: views of every town.
        seed: of the draws.
        skipped: numbers of draws that are left out.
    """
    rng, number, chosen = np.random.default_rng(seed), 0, {}
    for town in towns:
        with closing(open_city(town)) as city:
            names, used = sorted(held_street_map(city).panorama_ids()), 0
            while used < each:
                links = city.streetview.panorama(names[int(rng.integers(len(names)))])
                heading = float(rng.uniform(-TURN_DEG, TURN_DEG))
                if links.links and number not in skipped:
                    along = links.links[int(rng.integers(len(links.links)))].heading
                    chosen[number] = town, links.id, round((along + heading) % 360, 1)
                    used += 1
                number += 1
    return chosen


def draw_views(views: Sequence[ViewPlace], out: Path) -> None:
    """Draw each view in this state of virl, as `out/<place in the list>.png`."""
    out.mkdir(parents=True, exist_ok=True)
    for town in dict.fromkeys(view[0] for view in views):
        with closing(open_city(town)) as city:
            for place, (where, name, heading) in enumerate(views):
                if where == town:
                    seen = city.streetview.view(name, Camera(heading, width=SIDE, height=SIDE)).pixels
                    cv2.imwrite(str(out / f"{place:02}.png"), np.asarray(seen)[..., ::-1])


def pair(out: Path, numbers: Sequence[int], rng: np.random.Generator) -> None:
    """Write pictures of each pair of drawn views in both orders, and which side is the newer one.

    Args:
        out: folder with `old` and `new`.
        numbers: of the draw of each view.
        rng: decides which of the two is on the left.
    """
    key = {}
    for place, number in enumerate(numbers):
        pictures = [np.asarray(cv2.imread(str(out / state / f"{place:02}.png"))) for state in ("old", "new")]
        newer_right = bool(rng.integers(2))
        key[f"{place:02}"] = {"draw": number, "newer in pairs": "right" if newer_right else "left"}
        for folder, is_straight in (("pairs", newer_right), ("swapped", not newer_right)):
            left, right = pictures if is_straight else pictures[::-1]
            (out / folder).mkdir(exist_ok=True)
            between = np.full((SIDE, GAP, 3), 255, np.uint8)
            cv2.imwrite(str(out / folder / f"{place:02}.png"), np.hstack([left, between, right]))
    (out / "key.json").write_text(json.dumps(key, indent=1), "utf-8")


def write_sheet(out: Path) -> None:
    """Write `out/looks.webp`: small pairs of drawn views at even steps, the older one on the left."""
    names = sorted(file.name for file in (out / "new").glob("*.png"))
    pairs = [
        np.hstack([_small(out / "old" / name), _small(out / "new" / name)])
        for name in names[:: max(1, len(names) // SHOWN)][:SHOWN]
    ]
    framed = [cv2.copyMakeBorder(one, 0, GAP, 0, GAP, cv2.BORDER_CONSTANT, value=(255,) * 3) for one in pairs]
    rows = [np.hstack(framed[first : first + 2]) for first in range(0, len(framed) - 1, 2)]
    cv2.imwrite(str(out / "looks.webp"), np.vstack(rows), [cv2.IMWRITE_WEBP_QUALITY, 72])


def _small(file: Path) -> Image:
    """Return a picture, as BGR, at the size that it has on the sheet."""
    read = np.asarray(cv2.imread(str(file)))
    return np.asarray(cv2.resize(read, (SMALL, SMALL), interpolation=cv2.INTER_AREA), np.uint8)


def write_village(folder: Path) -> str:
    """Write an OpenStreetMap file of a made village of two roads, and return its path."""
    nodes: dict[tuple[float, float], int] = {}
    ways: list[str] = []
    rng = np.random.default_rng(1)

    def line(points: Sequence[tuple[float, float]], tags: dict[str, str]) -> None:
        """Add a way through points, metres east and north of the village's middle."""
        refs = "".join(f'<nd ref="{nodes.setdefault(point, len(nodes) + 1)}"/>' for point in points)
        told = "".join(f'<tag k="{name}" v="{value}"/>' for name, value in tags.items())
        ways.append(f'<way id="{len(ways) + 1}" version="1">{refs}{told}</way>')

    line([(0, -320), (4, -120), (0, 0), (-6, 140), (0, 320)], {"highway": "secondary", "name": "Hill Road"})
    line([(-250, 60), (-100, 30), (4, -120)], {"highway": "residential", "name": "Mill Lane"})
    line([(-120, 200), (-20, 210), (-20, 300), (-120, 290), (-120, 200)], {"landuse": "meadow"})
    line([(30, -300), (150, -300), (150, -220), (30, -220), (30, -300)], {"natural": "wood"})
    for side in (-1, 1):
        for y in range(-280, 300, 24):
            x, wide, deep = side * (11 + rng.uniform(0, 5)), rng.uniform(8, 13), side * rng.uniform(8, 12)
            if rng.uniform() < 0.8:
                shop = {"shop": "bakery", "name": "Bread and Salt"} if y == -40 and side == 1 else {}
                box = [(x, y), (x + deep, y), (x + deep, y + wide), (x, y + wide), (x, y)]
                line(box, {"building": "house", "building:levels": str(rng.integers(1, 4)), **shop})
    spots = (
        f'<node id="{number}" version="1" lat="{47.2 + y / 111_160:.7f}" lon="{9.6 + x / 75_700:.7f}"/>'
        for (x, y), number in nodes.items()
    )
    file = folder / "village.osm"
    file.write_text("\n".join(['<osm version="0.6">', *spots, *ways, "</osm>", ""]), "utf-8")
    return str(file.resolve())


if __name__ == "__main__":
    main()

"""How many names on signs are read all around, and at what cost, by the size and the width of the views?

    python -m benchmarks.perf.reading [--city virlbury] [--panoramas 25] [--json]

Looks all around from panoramas in the middle of a made city, a quarter of the circle at a time, and reads
each quarter in several ways: in one view or several, of some size and field of view. A name counts if it is
on a sign within 30 m of which half is seen, and as read if the words of one quarter resemble it as those of a
landmark have to. Seconds are those of the processor, drawing included; set `OMP_NUM_THREADS=1`.
"""

import time
from collections.abc import Mapping, Sequence
from math import radians, tan

from rich.table import Table

from virl.platform.city import City, Truth
from virl.platform.movement.instruction.tourist.signs import (
    LETTER_M,
    MIN_RESEMBLANCE,
    PITCHES,
    QUARTER_DEG,
    READ_M,
    name_likeness,
    sign_cameras,
)
from virl.platform.perception.base import Reader
from virl.platform.perception.look import reading_cameras
from virl.platform.perception.open import open_reader
from virl.platform.perception.signs import group_lines
from virl.platform.providers.cities import open_city
from virl.platform.streetview import Camera, Panorama

from .figures import command, figures

NEAR_M, SEEN = 30.0, 0.5
"""Signs that count: so near, and of which so large a share is seen."""
QUARTERS = (0.0, 90.0, 180.0, 270.0)
APART = 7  # panoramas; chosen: some 70 m


def ways(heading: float) -> Mapping[str, Sequence[Camera]]:
    """The cameras of each way to read a quarter of the circle."""
    pitch = sum(PITCHES) / 2
    return {
        "1 view, 640 x 256": [Camera(heading, pitch, QUARTER_DEG, 640, 256)],
        "1 view, 640 x 640": [Camera(heading, pitch, QUARTER_DEG, 640, 640)],
        "2 views, as used": sign_cameras(heading),
        "3 views": reading_cameras(heading, QUARTER_DEG, PITCHES, LETTER_M, 1.5 * READ_M),
    }


def main() -> None:
    """Print names read and seconds for each way."""
    parser = command(__doc__)
    parser.add_argument("--city", default="virlbury")
    parser.add_argument("--panoramas", type=int, default=25)
    options = parser.parse_args()
    city, reader = open_city(options.city), open_reader()
    if city.truth is None:
        parser.error(f"{options.city} does not know its signs: choose a made city")
    panoramas = spread(city, options.panoramas)
    there = {
        (panorama.id, quarter): names(city.truth, panorama, quarter)
        for panorama in panoramas
        for quarter in QUARTERS
    }
    total = sum(map(len, there.values()))
    measure(city, reader, "2 views, as used", dict(list(there.items())[:1]))  # loads what is loaded once
    table = Table("a quarter in", "field of view", "letters of 0.2 m from 12 m", "names read", "seconds")
    with figures(options) as found:
        found["names"] = total
        for way, cameras in ways(0.0).items():
            read, seconds = measure(city, reader, way, there)
            fov = cameras[0].fov
            pixels = cameras[0].width * LETTER_M / (2 * READ_M * tan(radians(fov / 2)))
            found[way] = {"fov": fov, "letter_pixels": pixels, "read": read, "seconds": seconds}
            table.add_row(way, f"{fov:.0f}", f"{pixels:.1f} pixels", f"{read} of {total}", f"{seconds:.1f}")
        found.show(table)


def spread(city: City, count: int) -> list[Panorama]:
    """Every seventh panorama on the way outwards from the middle of a city."""
    first = city.streetview.nearest(city.center, 200.0)
    found = [first] if first else []
    known = {panorama.id for panorama in found}
    for panorama in found:  # grows meanwhile
        if len(found) >= APART * count:
            break
        new = [link.pano_id for link in panorama.links if link.pano_id not in known]
        known.update(new)
        found += [city.streetview.panorama(pano_id) for pano_id in new]
    return found[::APART][:count]


def names(truth: Truth, panorama: Panorama, quarter: float) -> set[str]:
    """The names that can be read in a quarter of the circle."""
    camera = Camera(panorama.heading + quarter, sum(PITCHES) / 2, QUARTER_DEG, 640, 640)
    seen = truth.visible(panorama.id, camera, kinds={"sign"})
    near = [one for one in seen if one.distance <= NEAR_M and one.visible_fraction >= SEEN]
    return {one.label for one in near if one.label}


def measure(
    city: City, reader: Reader, way: str, there: Mapping[tuple[str, float], set[str]]
) -> tuple[int, float]:
    """How many of the names are read in one way, and the seconds of the processor."""
    read, begun = 0, time.process_time()
    for (pano_id, quarter), wanted in there.items():
        heading = city.streetview.panorama(pano_id).heading + quarter
        views = [city.streetview.view(pano_id, camera) for camera in ways(heading)[way]]
        words = [
            " ".join(line.text for line in sign)
            for lines in reader.read([view.pixels for view in views])
            for sign in group_lines(lines)
        ]
        read += sum(any(name_likeness(text, name) >= MIN_RESEMBLANCE for text in words) for name in wanted)
    return read, time.process_time() - begun


if __name__ == "__main__":
    main()

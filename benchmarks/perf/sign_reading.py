"""What does reading only inside signs cost, and what does it miss?

    python -m benchmarks.perf.sign_reading [--city virlmouth] [--views 240] [--seed 1] [--json]

Reads the same random views with the reader `rapidocr`, which reads whole views, and with `sign-reader`,
which reads where the detector `rendered` finds signs. A name counts if it is in Latin script and half of its
sign is in sight; it is read if the lines that touch its sign hold it, with a partial match of 85 %. Views are
of 640 by 640 pixels, with fields of view of 60 and 90 degrees. Milliseconds are of the processor, for a view,
drawing left out; set `OMP_NUM_THREADS=1`.
"""

import time
from collections.abc import Sequence

import numpy as np
from rapidfuzz import fuzz

from virl.bench.resources import truth_of
from virl.platform.city.city import Truth, Visible
from virl.platform.city.interchange import held_street_map
from virl.platform.city.streetview import Camera, View
from virl.platform.perception.base import Reader, TextLine
from virl.platform.perception.models import ModelOptions, Models
from virl.platform.providers.cities import open_city

from .figures import command, figure_table, figures

FOVS, SEEN, RESEMBLANCE, NEAR_PX = (60.0, 90.0), 0.5, 85.0, 5.0
LAST_LATIN = 0x24F
WHOLE, SIGNS = "rapidocr", "sign-reader"

Name = tuple[int, str]
"""(number of a view, a name on a sign in it)."""


def main() -> None:
    """Print the names read and the milliseconds a view of both readers."""
    parser = command(__doc__)
    parser.add_argument("--city", default="virlmouth")
    parser.add_argument("--views", type=int, default=240)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    city = open_city(options.city)
    truth = truth_of(city)
    ids, rng = held_street_map(city).panorama_ids(), np.random.default_rng(options.seed)
    views = []
    for number in range(options.views):
        pano_id, heading = ids[int(rng.integers(len(ids)))], float(rng.uniform(0, 360))
        views.append(city.streetview.view(pano_id, Camera(heading=heading, fov=FOVS[number % 2])))
    there = [names(truth, view) for view in views]
    models = Models(ModelOptions(truth=truth))
    table = figure_table("reader", "milliseconds a view", "names read", "of those that whole views give")
    with figures(options) as found:
        whole, whole_ms = _measure(models.reader(WHOLE), views, there)
        signs, signs_ms = _measure(models.reader(SIGNS), views, there)
        for reader, read, ms in ((WHOLE, whole, whole_ms), (SIGNS, signs, signs_ms)):
            found[reader] = {"ms": ms, "names": len(read), "same": len(read & whole)}
            table.add_row(reader, f"{ms:.1f}", str(len(read)), f"{len(read & whole)} of {len(whole)}")
        found["cost_ratio"] = signs_ms / whole_ms
        found.show(table)


def names(truth: Truth, view: View) -> list[Visible]:
    """Return the signs in a view whose names should be read."""
    seen = truth.visible(view.pano_id, view.camera, kinds={"sign"})
    return [one for one in seen if one.visible_fraction >= SEEN and one.label and is_latin(one.label)]


def is_latin(text: str) -> bool:
    """Return whether a text has no letter beyond the Latin script."""
    return max(map(ord, text)) <= LAST_LATIN


def _measure(
    reader: Reader, views: Sequence[View], there: Sequence[Sequence[Visible]]
) -> tuple[set[Name], float]:
    """Return (names that a reader reads, milliseconds a view); `there`: signs that each view shows."""
    pictures = [view.pixels for view in views]
    reader.read(pictures[:1])  # loads the models
    started = time.process_time()
    lines = reader.read(pictures)
    spent = time.process_time() - started
    read = {
        (number, sign.label)
        for number, (signs, some) in enumerate(zip(there, lines, strict=True))
        for sign in signs
        if is_read(sign, some)
    }
    return read, 1000 * spent / len(views)


def is_read(sign: Visible, lines: Sequence[TextLine]) -> bool:
    """Return whether the lines of text on a sign, or next to it, contain its name."""
    left, top, right, bottom = sign.box
    text = " ".join(
        line.text
        for line in lines
        if line.box[2] > left - NEAR_PX
        and line.box[0] < right + NEAR_PX
        and line.box[3] > top - NEAR_PX
        and line.box[1] < bottom + NEAR_PX
    )
    name = sign.label
    return len(text) >= 0.8 * len(name) and fuzz.partial_ratio(name.lower(), text.lower()) >= RESEMBLANCE


if __name__ == "__main__":
    main()

"""How many views a second does the detector `rendered` look at?

    python -m benchmarks.perf.rendered [--city virlton] [--views 32] [--batch 1 8] [--rounds 3] [--json]

Views are of 640 by 640 pixels, drawn before the time is taken. In the time are scaling, the network, and the
boxes as `detect` gives them. Seconds are those of the processor, so that other work on the machine disturbs
less; set `OMP_NUM_THREADS=1` for the figure of one core.
"""

from functools import partial

import numpy as np

from virl.platform.city.interchange import held_street_map
from virl.platform.city.streetview import Camera, View
from virl.platform.perception.detectors.rendered import RenderedDetector, RenderedSettings
from virl.platform.perception.models import read_model
from virl.platform.providers.cities import open_city

from .figures import best_seconds, command, figure_table, figures


def main() -> None:
    """Measure and print the views a second of processor time, for each batch size."""
    parser = command(__doc__)
    parser.add_argument("--city", default="virlton")
    parser.add_argument("--views", type=int, default=32)
    parser.add_argument("--batch", nargs="+", type=int, default=[1, 8])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    settings = read_model("detector", "rendered")
    if not isinstance(settings, RenderedSettings):
        parser.error("the model rendered is of another kind")
    views = draw_views(options.city, options.views)
    table = figure_table("batch", "views a second of the processor", "detections a view")
    with figures(options) as found:
        for batch in options.batch:
            detector = RenderedDetector(settings.model_copy(update={"batch": batch}))
            seen = sum(map(len, detector.detect(views))) / len(views)
            best = len(views) / best_seconds(partial(detector.detect, views), options.rounds)
            found[str(batch)] = {"views_a_second": best, "detections": seen}
            table.add_row(str(batch), f"{best:.1f}", f"{seen:.1f}")
        found.show(table)


def draw_views(city: str, count: int) -> list[View]:
    """Return `count` views of a city from random panoramas and headings, pixels drawn."""
    opened, rng = open_city(city), np.random.default_rng(0)
    ids = held_street_map(opened).panorama_ids()
    return [
        opened.streetview.view(ids[int(rng.integers(len(ids)))], Camera(heading=float(rng.uniform(0, 360))))
        for _ in range(count)
    ]


if __name__ == "__main__":
    main()

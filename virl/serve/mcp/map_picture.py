"""The map of a walk as a PNG, for clients that show pictures and no pages."""

import io

from virl.journal.convert import pose_record
from virl.journal.records import StepRecord
from virl.journal.walk_map import ground_of, walk_map
from virl.pages.map_picture import draw_picture
from virl.tools.body import Body

MAP_FILE = "map.png"
"""Name of the file in the run's folder, once the session is over."""
WIDTH = 900
"""Pixels."""


def draw_map(body: Body) -> bytes:
    """Draw the ground, the way walked so far, the places considered, and where the agent stands."""
    run = body.agent.run
    here = StepRecord(
        seq=0,
        step=len(run.steps),
        pose=pose_record(body.pose, body.panorama.position),
        distance_m=0.0,
        decided="",
    )
    steps = run.steps if run.steps and run.steps[-1].next_pano_id is None else [*run.steps, here]
    city = body.agent.city
    figure = walk_map(steps, ground_of(city), end="You", notice=city.notice)
    png = io.BytesIO()
    draw_picture(figure, WIDTH).save(png, "PNG", optimize=True)
    return png.getvalue()

"""Walks on a metric grid, as values and as journals of runs."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from virl.geo.globe import LatLng, LocalFrame, bearing, distance
from virl.journal.journal import Journal, total_cost
from virl.journal.records import (
    DetectionRecord,
    EndRecord,
    PlaceRecord,
    PoseRecord,
    Result,
    StartRecord,
    StepRecord,
    ViewRecord,
)
from virl.narrate.walk import Walk, WalkStop

FRAME = LocalFrame(LatLng(40.7, -74.0))
Point = tuple[float, float]

# East along one street, left at the second crossing, right at the next one: steps of 10 m.
STAIRCASE: list[Point] = [
    *((10.0 * k, 0.0) for k in range(9)),
    *((80.0, 10.0 * k) for k in range(1, 7)),
    *((80.0 + 10.0 * k, 60.0) for k in range(1, 5)),
]
CROSSINGS = {3, 8, 14}


def made_walk(
    points: Sequence[Point] = STAIRCASE, crossings=CROSSINGS, heading: float = 90.0, **options
) -> Walk:
    positions = [FRAME.position(x, y) for x, y in points]
    walked = [0.0, *(distance(a, b) for a, b in pairwise(positions))]
    stops = [
        WalkStop(f"p{number}", position, metres, number in crossings)
        for number, (position, metres) in enumerate(zip(positions, walked, strict=True))
    ]
    return Walk("A walk", heading, tuple(stops), **options)


def keep_run(
    folder: Path, points: Sequence[Point] = STAIRCASE, sign: str = "KAPPA SUSHI", *, ended: bool = True
) -> Path:
    """The journal of a run along the points, with a sign on the left at p2 and a place entered at the end."""
    start = StartRecord(
        virl="0.1.0",
        agent="hiro",
        city="nowhere",
        mind="rules",
        seed=1,
        started="2026-05-04T11:30:00+00:00",
        character={"name": "Hiro"},
    )
    positions = [FRAME.position(x, y) for x, y in points]
    with Journal.create(folder, start) as journal:
        (folder / "views" / "v.jpg").write_bytes(b"a picture")
        steps = []
        for number, position in enumerate(positions):
            before = positions[max(number - 1, 0)]
            heading = bearing(before, position) if number else 90.0
            steps.append(_step(number, position, heading, distance(before, position), sign, len(positions)))
            journal.append(steps[-1])
        if ended:
            place = steps[-1].places[0]
            result = Result(
                agent="hiro",
                city="nowhere",
                status="entered",
                steps=len(steps) - 1,
                distance_m=1.0,
                place=place,
                reason="It is good.",
                cost=total_cost(steps),
                versions={},
            )
            journal.append(EndRecord(seq=journal.next_seq, result=result))
    return folder


def _step(number, position, heading, metres, sign, count) -> StepRecord:
    views, places = (), ()
    if number == 2:
        box = DetectionRecord(label="restaurant", score=0.9, box=(300, 300, 340, 340), text=sign)
        views = (
            ViewRecord(
                file="views/v.jpg",
                pano_id="p2",
                heading=0.0,
                pitch=0,
                fov=90,
                width=640,
                height=640,
                detections=(box,),
            ),
        )
    if number == count - 1:
        places = (
            PlaceRecord(
                id="m",
                name="Noodle Bar Mei",
                types=("japanese_restaurant",),
                lat=position.lat,
                lng=position.lng,
                decision="enter",
                reason="Good.",
            ),
        )
    pose = PoseRecord(pano_id=f"p{number}", heading=heading, lat=position.lat, lng=position.lng)
    return StepRecord(
        seq=number + 1,
        step=number,
        pose=pose,
        distance_m=metres,
        views=views,
        places=places,
        crossing=number in CROSSINGS,
        decided=f"Decision {number}.",
    )

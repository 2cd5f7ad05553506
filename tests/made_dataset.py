"""Data sets written by hand, around the middle of `made_streets.FRAME`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import PIL.Image
from made_streets import FRAME

from virl.bench.benchmark import Scores, Tally
from virl.datasets.collect.dataset import (
    IMAGES,
    PANORAMAS,
    PLACES,
    QUESTIONS,
    ROUTES,
    Card,
    PanoramaRow,
    PlaceRow,
    QuestionRow,
    RouteRow,
    Row,
    Rows,
    write_card,
)

HARMFUL = (
    """__import__('os').system("touch harmed") O'Brien's "Bar" \\ {{ 7 * 7 }} <script>alert(1)</script>"""
)
"""A name of a place that would do harm wherever it were run, or break what quotes it carelessly."""

WISHES = (
    "Someone wants bread that came out of the oven this morning and a cake for a birthday in the afternoon.",
    "Someone wants to lift weights and run on a machine three times a week before the summer comes round.",
    "Someone wants to borrow novels for three weeks without paying or study at a silent table for hours.",
    "Someone wants to take money out of the wall and ask at the counter about a loan for a small house.",
)
"""Four wishes of fair length; a bakery fulfils the first."""


def panorama_row(pano_id: str, east: float, north: float = 0.0) -> PanoramaRow:
    """A panorama so many metres from the middle."""
    at = FRAME.position(east, north)
    return PanoramaRow(id=pano_id, lat=at.lat, lng=at.lng)


def place_row(
    place_id: str,
    types: str,
    east: float,
    north: float = 0.0,
    *,
    name: str = "",
    pano_id: str = "p",
    reviews: int = 30,
    distance_m: float = 5.0,
    image: bool = False,
) -> PlaceRow:
    """A place so many metres from the middle; `types` are parted by spaces."""
    at = FRAME.position(east, north)
    return PlaceRow(
        id=place_id,
        name=name or place_id,
        types=tuple(types.split()),
        lat=at.lat,
        lng=at.lng,
        review_count=reviews,
        pano_id=pano_id,
        distance_m=distance_m,
        image=f"{IMAGES}/{place_id}.jpg" if image else None,
    )


def question_row(place: PlaceRow, answer: int = 0) -> QuestionRow:
    """A question about a place, the first wish being right and standing at `answer`."""
    right, *wrong = WISHES
    wrong.insert(answer, right)
    return QuestionRow(
        id=place.id,
        question="Who would find here what they want?",
        types=place.types,
        options=(wrong[0], wrong[1], wrong[2], wrong[3]),
        answer=[0, 1, 2, 3][answer],
        image=place.image or "",
    )


def write_dataset(
    folder: Path,
    *,
    panoramas: Sequence[PanoramaRow] = (),
    places: Sequence[PlaceRow] = (),
    questions: Sequence[QuestionRow] = (),
    routes: Sequence[RouteRow] = (),
    pictures: Mapping[str, np.ndarray] | None = None,
) -> Path:
    """Write a data set; photos that `pictures` does not give by place id are grey."""
    files: list[tuple[str, type[Row], Sequence[Row]]] = [
        (PANORAMAS, PanoramaRow, panoramas),
        (PLACES, PlaceRow, places),
        (QUESTIONS, QuestionRow, questions),
        (ROUTES, RouteRow, routes),
    ]
    for file, kind, given in files:
        rows = Rows(folder / file, kind)
        for row in given:
            rows.add(row)
    (folder / IMAGES).mkdir(parents=True, exist_ok=True)
    for place in places:
        if place.image:
            pixels = (pictures or {}).get(place.id, np.full((48, 64, 3), 127, np.uint8))
            PIL.Image.fromarray(pixels).save(folder / place.image)
    counts = {file.partition(".")[0]: len(given) for file, _, given in files}
    card = Card(
        city="made",
        title="Made",
        provider="offline",
        virl="0",
        collected="2026-01-01",
        region=(),
        terms="free",
        settings={},
        counts=counts,
        requests={},
        usd=0.0,
    )
    write_card(folder, card)
    return folder


def value(scores: Scores, metric: str) -> float:
    """Return a metric as the contract defines it: the mean over groups of hits over weights."""
    groups: dict[str, list[Tally]] = {}
    for tally in scores.tallies[metric]:
        groups.setdefault(tally.group, []).append(tally)
    means = [sum(t.hit for t in some) / sum(t.weight for t in some) for some in groups.values()]
    return sum(means) / len(means)

"""How well routes were followed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from virl.bench.benchmark import Metric, Scores, Shown, ShownBox, ShownPoint, ShownView, Tally
from virl.bench.episode import Record
from virl.bench.metrics.places import METRICS as PARTS
from virl.bench.metrics.places import KeyPosition, VlnScore, WalkedPath, score_vln
from virl.datasets.collect.dataset import RouteRow
from virl.geo.globe import LatLng
from virl.platform.providers.cities import title_of_city

_HEADINGS = {
    "start_reaction": ("start", "sets out in the right direction"),
    "intersection_arrival": ("crossings reached", "reaches the crossings of the route"),
    "intersection_reaction": ("crossings right", "goes the right way at crossings"),
    "stop_arrival": ("stop", "reaches the place where the route stops"),
}
"""(heading, meaning) of each metric of a walk's parts, by its key."""
METRICS = (
    Metric("success", "success", about="ends within 25 m of the place"),
    *(Metric(part, _HEADINGS[part][0], about=_HEADINGS[part][1]) for part in PARTS),
    *(
        Metric(
            f"{part}_paper",
            f"{_HEADINGS[part][0]}\nas in the paper",
            aside=True,
            about=f"{_HEADINGS[part][1]}, or is successful",
        )
        for part in PARTS
    ),
)
"""Metrics of walks along routes, as measured on all of them, and as V-IRL's table 5 must have counted.

There, routes that succeeded are right throughout. V-IRL's published code counts those that failed alone; for
all three see `virl.bench.metrics.places`."""


def score(records: Sequence[Record], options: object) -> Scores:  # noqa: ARG001 - as the contract says
    """Return the tallies of routes by metric; the key positions of a route share its vote."""
    tallies: dict[str, list[Tally]] = {metric.key: [] for metric in METRICS}
    for record in records:
        scored = score_of(record.data)
        tallies["success"].append(Tally(record.case, scored.success))
        for part in PARTS:
            value = getattr(scored, part)
            if value is not None:
                tallies[part].append(Tally(record.case, value))
                tallies[f"{part}_paper"].append(Tally(record.case, 1.0 if scored.success else value))
    return Scores(tallies, notes=_notes(records))


def _notes(records: Sequence[Record]) -> list[str]:
    """Return notes on walks that ended lost and on actions that were refused."""
    lost = sum(record.data["ending"] == "lost" for record in records)
    refused = sum(len(step["refused"]) for record in records for step in record.data["walked"])
    told = []
    if lost:
        told.append(f"{lost} of {len(records)} walks ended lost, the others where the walker chose to stop")
    if refused:
        told.append(f"{refused} actions could not be carried out and were asked for again")
    return [f"{records[0].model}, {title_of_city(records[0].city)}: {note}" for note in told]


def score_of(data: Mapping[str, Any]) -> VlnScore:
    """Return the metrics of one walk; an action is the panorama that it leads to, whatever its words."""
    route = RouteRow.model_validate(data["route"])
    steps = data["walked"]
    onward = dict(zip(route.pano_ids, [*route.pano_ids[1:], ""], strict=True))
    walked = WalkedPath(
        [LatLng(step["lat"], step["lng"]) for step in steps],
        [step["next"] or "stop" for step in steps],
    )
    turns = [KeyPosition(key.position, onward[key.pano_id]) for key in route.key_points if key.kind == "turn"]
    scored = score_vln(walked, onward[route.pano_ids[0]], turns, route.destination)
    return replace(scored, success=0.0) if data["ending"] == "failed" else scored


def show(record: Record) -> Shown:
    """Return the contents of a walk's page: directions, what was seen and decided, and the path."""
    data = record.data
    route, scored = RouteRow.model_validate(data["route"]), score_of(data)
    kept = {file.rsplit("/", 1)[-1]: file for file in record.files}
    views = [
        ShownView(
            kept[seen["file"]],
            f"step {number}: {seen['name']}, {seen['where']}",
            (ShownBox(tuple(seen["box"]), seen["name"]),) if seen["box"] else (),
        )
        for number, step in enumerate(data["walked"])
        for seen in step["seen"]
        if seen.get("file") in kept
    ]
    return Shown(
        f"{'arrived' if scored.success else 'not arrived'}, {data['ending']}: {data['reason']}",
        scored.success,
        data["instruction"],
        (
            ("destination", route.place_name),
            ("metres", f"{route.metres:.0f}"),
            ("mover", data.get("mover", "links")),
        ),
        tuple(views),
        tuple((step["observed"], _describe_decision(step)) for step in data["walked"]),
        (ShownPoint(route.destination, scored.success, route.place_name, "goal"),),
        tuple(LatLng(step["lat"], step["lng"]) for step in data["walked"]),
        title=f"To {route.place_name}",
    )


def _describe_decision(step: Mapping[str, Any]) -> str:
    """Return what was done at a step in words, after the actions that were refused."""
    return "; ".join([*(f"refused: {reason}" for reason in step["refused"]), step["decided"]])

"""How well targets were reached."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, get_args

from virl.bench.benchmark import Metric, Scores, Shown, ShownPoint, ShownView, Tally
from virl.bench.episode import Record
from virl.bench.metrics.paths import success_weighted_path_length
from virl.geo.globe import LatLng

from .episodes import Difficulty, Search

LEVELS: tuple[Difficulty, ...] = get_args(Difficulty)

METRICS = (
    Metric(
        "success",
        "success",
        digits=0,
        by_group=True,
        about="stops within 50 m of the target, with its sign in sight",
    ),
    Metric("spl", "SPL", digits=0, about="success weighted by path length"),
    Metric("accuracy", "right decisions", digits=0, about="decisions that lessen the way to the target"),
    Metric("progress", "progress", digits=0, about="share of the way that is behind it at the end"),
    Metric("decisions", "decisions", percent=False, digits=0, about="choices of a way in a search"),
    Metric("backtracks", "back", percent=False, digits=0, aside=True, about="moves back along the last link"),
    Metric("views", "views", percent=False, digits=0, aside=True, about="pictures looked at in a search"),
    *(Metric(level, level, digits=0, aside=True, about=f"success in {level} searches") for level in LEVELS),
)
"""Metrics of searches; success has a group for each kind of target, so that its mean is over kinds."""


def score(records: Sequence[Record], options: object) -> Scores:  # noqa: ARG001 - as the contract says
    """Return the tallies of searches by metric, one for each search."""
    tallies: dict[str, list[Tally]] = {metric.key: [] for metric in METRICS}
    for record in records:
        search = Search.model_validate(record.data["search"])
        for key, value in measure_walk(record.data, search).items():
            tallies[key].append(Tally(record.case, value, group=search.kind if key == "success" else ""))
    return Scores(tallies, notes=_score_notes(records))


def measure_walk(data: Mapping[str, Any], search: Search) -> dict[str, float]:
    """Return the metrics of one walk by key; `accuracy` is missing if nothing was decided."""
    walked = data["walked"]
    metres = sum(step["moved"] for step in walked)
    decisions = [
        after["left"] < before["left"] for before, after in pairwise(walked) if _is_decision(walked, before)
    ]
    back = sum(one["pano_id"] == third["pano_id"] for one, third in zip(walked, walked[2:], strict=False))
    values = {
        "success": float(data["success"]),
        "spl": success_weighted_path_length(data["success"], metres, search.metres),
        "progress": (search.metres - walked[-1]["left"]) / search.metres,
        "decisions": float(data["decisions"]),
        "backtracks": float(back),
        "views": float(data["views"]),
        search.difficulty: float(data["success"]),
    }
    return values | ({"accuracy": sum(decisions) / len(decisions)} if decisions else {})


def show(record: Record) -> Shown:
    """Return the contents of a search's page: task, decisions, pictures and path."""
    data = record.data
    search = Search.model_validate(data["search"])
    kept = {file.rsplit("/", 1)[-1]: file for file in record.files}
    captions = {"target.jpg": "the target", "end.jpg": "towards the target, where the walk ended"}
    walked = data["walked"]
    return Shown(
        f"{'reached' if data['success'] else 'not reached'}: {walked[-1]['decided']}",
        float(data["success"]),
        search.told,
        (
            ("target", search.place_name),
            ("difficulty", search.difficulty),
            ("shortest way", f"{search.metres:.0f} m, {search.decisions} decisions, {search.turns} turns"),
            ("decisions", f"{data['decisions']} of {search.max_decisions}"),
            ("metres left", f"{walked[-1]['left']:.0f}"),
            ("stops by itself", "no: it is told where the target is in sight" if data["told"] else "yes"),
        ),
        tuple(ShownView(kept[file], caption) for file, caption in captions.items() if file in kept),
        tuple((step["pano_id"], step["decided"]) for step in walked if _is_decision(walked, step)),
        (ShownPoint(LatLng(*data["target"]), float(data["success"]), search.place_name, "goal"),),
        tuple(LatLng(step["lat"], step["lng"]) for step in walked),
        title=f"To {search.place_name}",
    )


def _is_decision(walked: Sequence[Mapping[str, Any]], step: Mapping[str, Any]) -> bool:
    """Return whether the walker moved on at a step where it had a choice of ways."""
    return step["next"] is not None and step["choices"] > (1 if step is walked[0] else 2)


def _score_notes(records: Sequence[Record]) -> list[str]:
    """Return a note if the searcher is told that the target is in sight; else nothing."""
    if records and records[0].data["told"]:
        return [f"{records[0].model}: stops where it is told that the target is in sight; it need not see it"]
    return []

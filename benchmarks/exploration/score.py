"""How well places that fit were found."""

from collections.abc import Mapping, Sequence

from virl.bench.agent_runs import RUN_REPORT
from virl.bench.benchmark import Metric, Scores, Shown, ShownPoint, Tally
from virl.bench.episode import Record
from virl.geo.globe import LatLng
from virl.pages.numbers import show_share

BANDS: Mapping[str, tuple[float, float]] = {
    "0-150": (0.0, 150.0),
    "150-300": (150.0, 300.0),
    "300-600": (300.0, 600.0),
}
"""Bands of distance from a start to the nearest fitting place, (from, to) in metres along the streets."""

METRICS = (
    Metric("success", "success", digits=0, about="enters a place that truly fits"),
    *(
        Metric(f"success_{key}", f"success, {band} m", digits=0, about="the same, so far off")
        for band in BANDS
        for key in [band.replace("-", "_")]
    ),
    Metric("spl", "SPL", digits=0, about="success weighted by path length"),
    Metric("steps", "steps", percent=False, about="panoramas walked to in a search"),
    Metric("entered_another", "entered another", digits=0, about="enters a place that does not fit"),
    Metric("gave_up", "gave up", digits=0, about="enters no place"),
)
"""Shares of walks that enter a fitting place, another or none, by band of distance too; SPL and steps."""


def score(records: Sequence[Record], options: object) -> Scores:  # noqa: ARG001 - as the contract says
    """Return the tallies of walks by metric, one for each walk."""
    return Scores(
        {
            "success": [Tally(one.case, float(one.data["success"])) for one in records],
            **{f"success_{band.replace('-', '_')}": _successes_in_band(records, band) for band in BANDS},
            "spl": [Tally(one.case, one.data["spl"]) for one in records],
            "steps": [Tally(one.case, float(one.data["steps"])) for one in records],
            "entered_another": [
                Tally(one.case, float(one.data["entered"] is not None and not one.data["success"]))
                for one in records
            ],
            "gave_up": [Tally(one.case, float(one.data["entered"] is None)) for one in records],
        }
    )


def _successes_in_band(records: Sequence[Record], band: str) -> list[Tally]:
    """Return a tally of success for each walk whose start is in a band of distances."""
    return [Tally(one.case, float(one.data["success"])) for one in records if one.data.get("band") == band]


def show(record: Record) -> Shown:
    """Return the contents of a walk's page: its path, the place entered and the nearest that fits."""
    data = record.data
    nearest = data["nearest"]
    reached = float(bool(data["success"]))  # a place that was missed is no success of the map's
    points = []
    if data["entered"] != nearest["id"]:
        label = f"{nearest['name']}, the nearest that fits"
        points.append(ShownPoint(LatLng(*nearest["position"]), reached, label, "goal"))
    if data["entered"] is None:
        ended = f"failed: {record.reason}," if record.status == "failed" else "gave up"
        outcome = f"{ended} after {data['steps']} steps"
    else:
        verdict = "fits" if data["success"] else "does not fit"
        outcome = f"entered {data['entered_name']}, which {verdict}"
        label = f"{data['entered_name']}, entered"
        points.append(ShownPoint(LatLng(*data["entered_position"]), reached, label, "entered"))
    return Shown(
        outcome,
        reached,
        facts=(
            ("start", data["start"]),
            ("steps", str(data["steps"])),
            ("metres walked", f"{data['walked_m']:.0f}"),
            ("metres of the shortest way", f"{data['shortest_m']:.0f}"),
            ("SPL", show_share(data["spl"])),
        ),
        points=points,
        path=[LatLng(*position) for position in data["path"]],
        links=(("report of Hiro's run", RUN_REPORT),),
    )

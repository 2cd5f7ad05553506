"""How well places were localized: every place once, whichever panoramas it was found from."""

from collections.abc import Iterator, Sequence

from virl.bench.benchmark import Confusion, Metric, Scores, Shown, ShownBox, ShownPoint, ShownView, Tally
from virl.bench.episode import Record
from virl.bench.metrics.places import SoughtPlace
from virl.geo.globe import LatLng
from virl.journal.story import words
from virl.pages.numbers import count_noun
from virl.platform.city.place_types import types_20

_SHARES = "A place counts in each of its types."
METRICS = (
    Metric("ar10", "AR10", shares=_SHARES, about="average recall over 10 place types"),
    Metric("ar20", "AR20", by_group=True, shares=_SHARES, about="average recall over 20 place types"),
    Metric("recall", "any label", about="places found, whatever their label"),
    Metric("accuracy", "label right", about="places found, whose label is right"),
    Metric("ar20_once", "AR20 once", about="AR20 where each panorama must find its places alone"),
    Metric("precision", "boxes right", about="boxes with a type of the place that they hit"),
    Metric("ar20_active", "AR20 active", about="AR20 with a closer look at each box"),
    Metric("ar10_active", "AR10 active", aside=True, about="AR10 with a closer look at each box"),
    Metric("accuracy_active", "label right, active", aside=True, about="the same, with a closer look"),
)
"""Metrics of boxes that hit places: V-IRL's, and our own `ar20_once` and `precision`.

`recall` and `accuracy` are what V-IRL's code prints beside: places hit by any box, and of those the ones
hit with one of their types. `ar20_once` and `precision` are ours: recall over pairs of a panorama and a place
near it, and of the boxes that hit a place the share whose label is right."""

NOT_FOUND = "not found"


def score(records: Sequence[Record], options: object) -> Scores:  # noqa: ARG001 - as the contract says
    """Return V-IRL's recall over places, each counted once from whichever panorama, and our own metrics."""
    tallies = _metric_tallies(_sought(records, "hits")) | {
        "ar20_once": list(_tally_places(records)),
        "precision": list(_boxes(records)),
    }
    active = [record for record in records if record.data["confirmed"] is not None]
    if active:
        tallies |= {
            f"{key}_active": found for key, found in _metric_tallies(_sought(active, "confirmed")).items()
        }
        del tallies["recall_active"]
    return Scores(
        tallies,
        (_confusion(_sought(records, "hits")),),
        (f"{len(_sought(records, 'hits'))} places near {len(records)} panoramas",),
    )


def show(record: Record) -> Shown:
    """Return the contents of a panorama's page: views with boxes, and the places around."""
    hits = [tuple(hit) for hit in record.data["hits"]]
    right = {place["id"] for place in record.data["places"] for hit in hits if _is_right(place, hit)}
    places = record.data["places"]
    return Shown(
        f"{len(right)} of {count_noun(len(places), 'place')} found",
        len(right) / len(places),
        facts=tuple((place["name"], words(", ".join(place["types"]))) for place in places),
        views=tuple(
            ShownView(
                file,
                f"{view['heading']:.0f}°, {view['fov']:.0f}° wide",
                tuple(
                    ShownBox(
                        tuple(box["box"]),
                        f"{words(box['label'])} {box['score']:.1f}"
                        + (f" ({box['place']})" if box["place"] else ""),
                        "right" if box["right"] else "wrong" if box["place"] else "other",
                    )
                    for box in view["boxes"]
                ),
            )
            for file, view in zip(record.files, record.data["views"], strict=False)
        ),
        points=tuple(
            ShownPoint(LatLng(place["lat"], place["lng"]), float(place["id"] in right), place["name"])
            for place in places
        ),
        title=f"Around {places[0]['name']}"
        + (f" and {count_noun(len(places) - 1, 'other place')}" if len(places) > 1 else ""),
    )


def _sought(records: Sequence[Record], key: str) -> dict[str, SoughtPlace]:
    """Return each place by id, with the labels of the boxes in field `key` that hit it."""
    types: dict[str, frozenset[str]] = {}
    labels: dict[str, set[str]] = {}
    for record in records:
        for place in record.data["places"]:
            types[place["id"]] = frozenset(place["types"])
        for place_id, label in record.data[key]:
            labels.setdefault(place_id, set()).add(label)
    return {place: SoughtPlace(kinds, frozenset(labels.get(place, ()))) for place, kinds in types.items()}


def _metric_tallies(places: dict[str, SoughtPlace]) -> dict[str, list[Tally]]:
    """Return the tallies of places by metric."""
    by_type = [
        Tally(place_id, float(kind in one.labels), 1.0, kind)
        for place_id, one in places.items()
        for kind in sorted(one.types)
    ]
    return {
        "ar20": by_type,
        "ar10": [tally for tally in by_type if tally.group in types_20()[:10]],
        "recall": [Tally(place_id, float(one.is_matched)) for place_id, one in places.items()],
        "accuracy": [
            Tally(place_id, float(one.is_detected)) for place_id, one in places.items() if one.is_matched
        ],
    }


def _tally_places(records: Sequence[Record]) -> Iterator[Tally]:
    """Yield a tally for each panorama, place near it and type: 1 if found there with that type."""
    for record in records:
        hits = {tuple(hit) for hit in record.data["hits"]}
        for place in record.data["places"]:
            for kind in place["types"]:
                yield Tally(place["id"], float((place["id"], kind) in hits), 1.0, kind)


def _boxes(records: Sequence[Record]) -> Iterator[Tally]:
    """Yield a tally for each panorama with boxes on places: (right ones, all)."""
    for record in records:
        boxes = [box for view in record.data["views"] for box in view["boxes"] if box["place"]]
        if boxes:
            yield Tally(record.case, float(sum(box["right"] for box in boxes)), float(len(boxes)))


def _confusion(places: dict[str, SoughtPlace]) -> Confusion:
    """Return the labels that places of each type were hit with; a place counts for each of its types."""
    labels = [*types_20(), NOT_FOUND]
    number = {label: index for index, label in enumerate(labels)}
    counts = [[0.0] * len(labels) for _ in labels]
    for one in places.values():
        for kind in one.types:
            for label in one.labels or {NOT_FOUND}:
                counts[number[kind]][number[label]] += 1.0
    return Confusion("What places were taken for", tuple(labels), tuple(map(tuple, counts)))


def _is_right(place: dict[str, object], hit: Sequence[str]) -> bool:
    """Return whether a hit (place's id, label) names a place with one of its types."""
    types = place["types"]
    return place["id"] == hit[0] and isinstance(types, list) and hit[1] in types

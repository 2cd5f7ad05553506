"""The place recognition benchmark: an episode for each place with a photo, and who ranks its types."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from virl.bench.benchmark import Benchmark, Confusion, Metric, Scores, Shown, ShownPoint, ShownView, Tally
from virl.bench.city_data import CityOptions, city_data
from virl.bench.episode import Episode, EpisodeResult, Record
from virl.bench.records import jpeg, photo_view, read_photo
from virl.bench.resources import Resources, is_model
from virl.errors import UnknownName
from virl.geo.globe import LatLng
from virl.journal.story import words
from virl.platform.city.place_types import types_96
from virl.platform.city.streetview import Image
from virl.platform.perception.models import model_names
from virl.platform.providers.cities import title_of_city
from virl.registry import first_line

from .published import PUBLISHED

Classifier = Callable[[Image, Sequence[str]], list[str]]
"""A function that ranks labels for a picture, likeliest first; labels not seen are left out."""
LABELS = tuple(sorted(types_96()))
KEPT = 5
SHOWN_TYPES = 20  # chosen: of the confusion matrix; the rarer ones stand together
OTHERS, NOTHING = "others", "nothing"

METRICS = (
    Metric(
        "top1",
        "mean accuracy",
        by_group=True,
        shares="A photo of k types counts 1/k in each.",
        about="accuracy averaged over place types",
    ),
    Metric("top3", "top 3", about="the same, right if one of the first three types is"),
    Metric("top5", "top 5", about="the same, right if one of the first five types is"),
    Metric("plain", "accuracy", about="photos whose first type is right"),
)


class Options(CityOptions):
    """Options of place recognition."""

    models: tuple[str, ...] = ("sign-detector",)
    """Recognizers or detectors to compare (see `virl models`)."""


def episodes(options: Options, resources: Resources) -> list[Episode]:
    """Return an episode for each place with a photo, for each model."""
    return [
        Episode(
            place.id,
            name,
            model,
            {
                "name": place.name,
                "types": list(place.types),
                "position": [place.lat, place.lng],
                "image": str(data.image(place.image)),
            },
            attribution=data.card.attribution,
        )
        for name in options.cities
        for data in (city_data(options, name, resources, needs="images"),)
        for place in data.places
        if place.image
        for model in options.models
    ]


def prepare(options: Options, resources: Resources) -> Mapping[str, Classifier]:
    """Return the opened classifiers by model's name, which all episodes of a run share."""
    return {model: open_classifier(model, resources) for model in options.models}


def run(episode: Episode, classifiers: Mapping[str, Classifier]) -> EpisodeResult:
    """Rank the 96 types for the place's photo, and return the first five."""
    image = read_photo(episode.payload["image"])
    ranked = classifiers[episode.model](image, LABELS)[:KEPT]
    kept = {key: episode.payload[key] for key in ("name", "types", "position")}
    return EpisodeResult(kept | {"ranked": ranked}, {"photo.jpg": jpeg(image)})


def score(records: Sequence[Record], options: Options) -> Scores:  # noqa: ARG001 - as the contract says
    """Return accuracy over types: a place of k types weighs 1/k for each (V-IRL, section 5.2)."""
    tallies: dict[str, list[Tally]] = {metric.key: [] for metric in METRICS}
    for record in records:
        types, ranked = record.data["types"], record.data["ranked"]
        for key, first in (("top1", 1), ("top3", 3), ("top5", 5)):
            right = not set(types).isdisjoint(ranked[:first])
            share = 1 / len(types)
            tallies[key] += [Tally(record.case, right * share, share, kind) for kind in types]
        tallies["plain"].append(Tally(record.case, float(not set(types).isdisjoint(ranked[:1]))))
    unanswered = sum(not record.data["ranked"] for record in records)
    notes = [
        f"{one.model}, {title_of_city(one.city)}: {unanswered} of {len(records)} photos: "
        "no type named, counted as wrong"
        for one in records[:1]
        if unanswered
    ]
    return Scores(tallies, (_confusion(records),) if records else (), notes)


def show(record: Record) -> Shown:
    """Return the contents of a photo's page: the photo, its types, and the types named."""
    types, ranked = ([*map(words, record.data[key])] for key in ("types", "ranked"))
    right = float(bool(ranked) and ranked[0] in types)
    named = ranked[0] if ranked else NOTHING
    return Shown(
        f"right: {named}" if right else f"wrong: {named} for {types[0]}",
        right,
        facts=(("place", record.data["name"]), ("types", ", ".join(types)), ("named", ", ".join(ranked))),
        views=tuple(ShownView(file) for file in record.files),
        points=(ShownPoint(LatLng(*record.data["position"]), right, record.data["name"]),),
        title=record.data["name"],
    )


def _confusion(records: Sequence[Record]) -> Confusion:
    """Return how often each first type of a place was named as each type; rare types count together."""
    common = Counter(record.data["types"][0] for record in records).most_common(SHOWN_TYPES)
    labels = [*(kind for kind, _ in common), OTHERS, NOTHING]
    number = {label: index for index, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels)))
    for record in records:
        types, ranked = record.data["types"], record.data["ranked"]
        true = types[0] if types[0] in number else OTHERS
        named = NOTHING if not ranked else ranked[0] if ranked[0] in number else OTHERS
        if ranked and ranked[0] in types:
            named = true
        counts[number[true], number[named]] += 1
    return Confusion("What photos were taken for", tuple(labels), tuple(map(tuple, counts.tolist())))


BENCHMARK = Benchmark(
    name="place-recognition",
    title="Place recognition",
    about=first_line(__name__),
    options=Options,
    episodes=episodes,
    prepare=prepare,
    run=run,
    score=score,
    show=show,
    metrics=METRICS,
    units="photos",
    published=PUBLISHED,
    typical_s=0.6,
    work="processes",
)


def open_classifier(name: str, resources: Resources) -> Classifier:
    """Return a classifier by a model in `platform/models`: a recognizer or a detector.

    Raises:
        UnknownName: there is no such model.
        ModelUnavailable: it cannot be loaded.
    """
    given = resources.objects.get(name)
    if hasattr(given, "detect") or is_model("detector", name):
        return _box_classifier(name, resources)
    if hasattr(given, "recognize") or is_model("recognizer", name):
        return _likeness_classifier(name, resources)
    known = [*model_names("recognizer"), *model_names("detector")]
    raise UnknownName("recognizer or detector", name, known)


def _likeness_classifier(name: str, resources: Resources) -> Classifier:
    """Return a classifier that ranks labels by a recognizer's scores."""
    recognizer = resources.recognizer(name)

    def rank(image: Image, labels: Sequence[str]) -> list[str]:
        """Return the labels by the recognizer's scores for the picture, likeliest first."""
        words = [label.replace("_", " ") for label in labels]  # V-IRL: the bare name of the type
        scores = recognizer.recognize([image], words)[0]
        return [labels[number] for number in (-scores).argsort(kind="stable").tolist()]

    return rank


def _box_classifier(name: str, resources: Resources) -> Classifier:
    """Return a classifier that ranks labels by a detector's best boxes."""
    detector = resources.detector(name)

    def rank(image: Image, labels: Sequence[str]) -> list[str]:
        """Return the labels of boxes found in the picture, the best box's first."""
        found = sorted(detector.detect([photo_view(image)], labels)[0], key=lambda one: -one.score)
        return list(dict.fromkeys(one.label for one in found))

    return rank

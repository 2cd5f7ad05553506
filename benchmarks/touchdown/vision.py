"""What VELMA's agent sees: nothing, stored features of views, or the user's panoramas through OpenCLIP."""

from dataclasses import dataclass
from pathlib import Path

from virl.bench.resources import Resources
from virl.errors import BadInput
from virl.platform.city.streetview import StreetView
from virl.platform.navigators.velma.verbalizer import LandmarkScorer, TrafficFlow
from virl.platform.navigators.velma.vision import (
    EmbeddingScorer,
    StreetViews,
    read_features,
    read_statistics,
    view_flow,
    yaw_flow,
)
from virl.platform.perception.embeddings import open_store
from virl.platform.providers.cities import open_city
from virl.platform.providers.graph.touchdown import Dataset
from virl.platform.providers.pictures.streetview import GraphStreetView, PanoramaFolder

from .dataset import Data

RECOGNIZER = "clip-bigg"
"""Recognizer in `platform/models` that compares landmarks with views, as in VELMA's paper."""


@dataclass(frozen=True, slots=True)
class SightSources:
    """The sources of what an agent sees; without any, it sees no landmarks."""

    panoramas: Path | None = None
    """Folder of equirectangular pictures, named by panorama id."""
    features: Path | None = None
    """File of embeddings of views, made before; `None` embeds the panoramas."""
    statistics: Path | None = None
    """File of score statistics over the training area; `None` tells no landmarks."""


@dataclass(frozen=True, slots=True)
class SeenThings:
    """The scorer of landmarks and the traffic flow that a VELMA navigator is given."""

    scorer: LandmarkScorer | None
    flow: TrafficFlow | None
    """Traffic flow at the start, which only Touchdown's instructions need; else `None`."""


def open_views(sight: SightSources, data: Data, option: str = "--views") -> StreetView:
    """Return pictures of the panoramas: the user's, or those of the city that the data is an export of.

    Args:
        sight: sources of pictures.
        data: with its graph.
        option: named in errors.

    Raises:
        BadInput: there are none, which `option` needs.
    """
    if sight.panoramas is not None:
        return GraphStreetView(data.graph, PanoramaFolder(sight.panoramas))
    if data.made_city:
        return open_city(data.made_city).streetview
    raise BadInput(f"{option} needs pictures: give their folder with --panoramas")


def open_sight(sight: SightSources, data: Data, dataset: Dataset, resources: Resources) -> SeenThings:
    """Return the scorer of landmarks and the traffic flow that VELMA's agent sees with.

    Args:
        sight: sources of pictures and features.
        data: with its graph.
        dataset: whose rules hold.
        resources: with the models.

    Raises:
        BadInput: the statistics are missing, or a file is damaged.
        ModelUnavailable: panoramas are to be looked at, and the recognizer cannot be loaded.
    """
    by_yaw = yaw_flow(data.graph) if dataset == "touchdown" else None
    if sight.statistics is None:
        if sight.panoramas or sight.features:
            raise BadInput("--panoramas and --features need --statistics, those of the training area")
        return SeenThings(None, by_yaw)
    if sight.features is not None:
        features = read_features(sight.features)
        return SeenThings(
            EmbeddingScorer(features, features, read_statistics(sight.statistics, features.model)), by_yaw
        )
    if sight.panoramas is None:
        raise BadInput("--statistics requires --panoramas or --features")
    clip = resources.recognizer(RECOGNIZER)
    store = open_store(str(sight.panoramas.resolve()), clip.name)
    views = StreetViews(GraphStreetView(data.graph, PanoramaFolder(sight.panoramas)), clip, store)
    scorer = EmbeddingScorer(views, clip, read_statistics(sight.statistics, clip.name))
    return SeenThings(scorer, view_flow(data.graph, views, clip) if by_yaw else None)

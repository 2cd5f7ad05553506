"""Collects the places of a region: found around its panoramas, cleaned by three rules, with photos.

V-IRL, section 5.1 and appendix: a place is kept if it is near enough to a panorama and has been reviewed; a
photo is kept if it shows a storefront. Cheap rules come first: no photo is paid for a place that falls.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import PIL.Image
from pydantic import Field
from scipy.spatial import KDTree

from virl.datasets.collect.dataset import IMAGES, PANORAMAS, PLACES, PanoramaRow, PlaceRow, Row, Rows
from virl.files.writing import replace_file
from virl.geo.globe import Floats, LatLng
from virl.geo.region import Region
from virl.platform.city.city import City
from virl.platform.city.place_types import types_96
from virl.platform.city.places import each_photo
from virl.platform.city.streetview import Image
from virl.platform.navigators.survey import SPACING_M, survey
from virl.platform.perception.base import Recognizer
from virl.settings.model import Settings

LABELS = ("storefront", "indoor", "others")
"""Labels that a recognizer chooses from for a photo; the first is that of storefronts (V-IRL's code)."""
STOREFRONT_SCORE = 0.92
"""Least score, [0, 1], at which a photo counts as a storefront (V-IRL's code)."""


ScorePhoto = Callable[[Image], float]
"""A function that returns the likeness of a photo to a storefront, [0, 1]."""


def storefront_score(recognizer: Recognizer, photo: Image) -> float:
    """Return a recognizer's score of a photo as a storefront among `LABELS`, [0, 1]."""
    return float(recognizer.recognize([photo], LABELS)[0][0])


WORK = "work"
"""Name of the folder with the state of a collection, which a complete data set no longer needs."""
COVER_M = 25.0
"""Radius in metres around each searched panorama in which no other panorama is searched from. Chosen."""
MAX_DISTANCE_M = 25.0
"""Default of the most metres from a place to its nearest panorama (V-IRL's code for localization)."""
MIN_REVIEWS = 30
"""Default of the least number of reviews of a place that is kept (V-IRL's code for localization)."""
PHOTOS = 3
"""Default of the most photos of a place that are looked at (V-IRL's code)."""
JPEG_QUALITY = 92  # chosen

Progress = Callable[[str, int, int], None]
"""A function that shows progress; takes words on the task, the number done and the total."""


class PlacesSettings(Settings):
    """The settings for collecting places: spacing, distances, reviews and photos."""

    spacing_m: float = Field(default=SPACING_M, gt=0)
    """Metres between the positions at which panoramas are looked for."""
    max_distance_m: float = Field(default=MAX_DISTANCE_M, gt=0)
    """Most metres from a place to its nearest panorama."""
    min_reviews: int = Field(default=MIN_REVIEWS, ge=0)
    photos: int = Field(default=PHOTOS, ge=0)
    """Most photos of a place that are looked at until one shows a storefront; 0 takes no photos."""
    recognizer: str | None = None
    """Name in `platform/models/` of the recognizer that judges photos; `None` takes the first photo."""
    storefront_score: float = Field(default=STOREFRONT_SCORE, ge=0, le=1)


class SearchRow(Row):
    """The ids of places that the search around one panorama found; `id` is the panorama's."""

    places: tuple[str, ...]


class CandidateRow(Row):
    """A place as a search found it, before the rules that remove places are applied."""

    name: str
    types: tuple[str, ...]
    lat: float
    lng: float
    address: str
    rating: float | None
    review_count: int

    @property
    def position(self) -> LatLng:
        """Position of the candidate."""
        return LatLng(self.lat, self.lng)


class JudgedRow(Row):
    """The fate of a candidate, kept or removed; `id` is the place's."""

    fate: str
    """`"kept"`, or the name of the rule that removed the candidate."""


@dataclass(frozen=True, slots=True)
class CollectionState:
    """The files of a collection in progress: panoramas, searches, candidates and their fates."""

    folder: Path
    panoramas: Rows[PanoramaRow]
    searches: Rows[SearchRow]
    candidates: Rows[CandidateRow]
    judged: Rows[JudgedRow]
    places: Rows[PlaceRow]

    @classmethod
    def open(cls, folder: Path) -> "CollectionState":
        """Open the files of a collection in a data set's folder, new or continued.

        Raises:
            BadInput: a file is broken.
        """
        work = folder / WORK
        return cls(
            folder,
            Rows(folder / PANORAMAS, PanoramaRow),
            Rows(work / "searches.jsonl", SearchRow),
            Rows(work / "candidates.jsonl", CandidateRow),
            Rows(work / "judged.jsonl", JudgedRow),
            Rows(folder / PLACES, PlaceRow),
        )

    def fates(self) -> dict[str, int]:
        """Return the number of candidates by fate: kept, or removed by each rule; sorted by name."""
        return dict(sorted(Counter(row.fate for row in self.judged.all).items()))


def collect_places(
    city: City,
    region: Region,
    folder: Path,
    settings: PlacesSettings,
    score_photo: ScorePhoto | None,
    *,
    progress: Progress,
) -> CollectionState:
    """Collect a region's places into `folder`, photos judged by `score_photo`; return its files and state.

    Args:
        city: where.
        region: what part of it.
        folder: of the data set.
        settings: how.
        score_photo: judges photos; `None` takes the first photo of a place.
        progress: is told how far it is.

    Raises:
        BadInput: the folder holds a broken collection, or one of another region.
        VirlError: the provider refuses, or a budget is spent; what was collected is kept.
    """
    work = CollectionState.open(folder)
    found = survey(
        city.streetview,
        region,
        spacing=settings.spacing_m,
        file=folder / WORK / "survey.jsonl",
        progress=lambda asked, to_ask, _: progress("looking for panoramas", asked, to_ask),
    ).found
    for pano_id, one in found.items():
        if pano_id not in work.panoramas:
            work.panoramas.add(PanoramaRow(id=pano_id, lat=one.position.lat, lng=one.position.lng))
    cover = cover_region(region, work.panoramas.all)
    for number, centre in enumerate(cover):
        progress("searching for places", number, len(cover))
        if centre.id not in work.searches:
            near = city.places.nearby(centre.position, COVER_M + settings.max_distance_m)
            for place in near:
                if place.id not in work.candidates:
                    work.candidates.add(
                        CandidateRow(
                            id=place.id,
                            name=place.name,
                            types=place.types,
                            lat=place.position.lat,
                            lng=place.position.lng,
                            address=place.address,
                            rating=place.rating,
                            review_count=place.review_count,
                        )
                    )
            # Last: a search that was killed half-way is made again.
            work.searches.add(SearchRow(id=centre.id, places=tuple(place.id for place in near)))
    away = _measure_away(region, work)
    for number, candidate in enumerate(work.candidates.all):
        progress("cleaning places", number, len(work.candidates))
        if candidate.id not in work.judged:
            _judge(city, region, candidate, away[candidate.id], settings, score_photo, work)
    return work


def cover_region(region: Region, panoramas: Sequence[PanoramaRow]) -> list[PanoramaRow]:
    """Return some of the panoramas, to search places from: each other one is within `COVER_M` metres of one.

    Each is taken that no earlier one stands for: within twice the fewest that would do.
    """
    if not panoramas:
        return []
    tree = KDTree(_frame_metres(region, [one.position for one in panoramas]))
    left = set(range(len(panoramas)))
    chosen = []
    for number, one in enumerate(panoramas):
        if number in left:
            chosen.append(one)
            left.difference_update(tree.query_ball_point(tree.data[number], COVER_M))
    return chosen


def _measure_away(region: Region, work: CollectionState) -> dict[str, tuple[PanoramaRow, float]]:
    """Return {candidate's id: (nearest panorama, metres to it)} of the collection `work`."""
    candidates, panoramas = work.candidates.all, work.panoramas.all
    if not candidates:
        return {}
    tree = KDTree(_frame_metres(region, [one.position for one in panoramas]))
    metres, nearest = tree.query(_frame_metres(region, [one.position for one in candidates]))
    return {
        one.id: (panoramas[int(number)], float(far))
        for one, number, far in zip(candidates, nearest, metres, strict=True)
    }


def _judge(
    city: City,
    region: Region,
    candidate: CandidateRow,
    away: tuple[PanoramaRow, float],
    settings: PlacesSettings,
    score_photo: ScorePhoto | None,
    work: CollectionState,
) -> None:
    """Add a candidate, with its photo, to the places, or record the rule that removes it."""
    panorama, metres = away
    fate = _failed_rule(region, candidate, metres, settings)
    if not fate and candidate.id not in work.places:
        image, score = _photo(city, candidate.id, settings, score_photo, work.folder)
        work.places.add(
            PlaceRow(
                **candidate.model_dump(exclude={"types"}),
                types=tuple(kind for kind in candidate.types if kind in types_96()),
                pano_id=panorama.id,
                distance_m=round(metres, 2),
                image=image,
                storefront=score,
            )
        )
    # Last: killed before it, a collection judges again, and finds the place there.
    work.judged.add(JudgedRow(id=candidate.id, fate=fate or "kept"))


def _failed_rule(region: Region, candidate: CandidateRow, away: float, settings: PlacesSettings) -> str:
    """Return the first rule that removes a candidate `away` metres from a panorama; empty if none does."""
    if not region.contains(candidate.position):
        return "outside the region"
    if not types_96().intersection(candidate.types):
        return "of no type asked for"
    if away > settings.max_distance_m:
        return "too far from any panorama"
    if candidate.review_count < settings.min_reviews:
        return "too few reviews"
    return ""


def _photo(
    city: City, place_id: str, settings: PlacesSettings, score_photo: ScorePhoto | None, folder: Path
) -> tuple[str | None, float | None]:
    """Keep the first photo that shows a storefront; return (path, score in [0, 1]), each `None` if absent."""
    if settings.photos == 0:
        return None, None
    for photo in each_photo(city.places, place_id, settings.photos if score_photo else 1):
        score = score_photo(photo) if score_photo else None
        if score is None or score >= settings.storefront_score:
            # The id of a place may hold letters that no file name takes.
            name = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in place_id)
            path = folder / IMAGES / f"{name}.jpg"
            with replace_file(path, "collect again") as file:
                PIL.Image.fromarray(photo).save(file, "JPEG", quality=JPEG_QUALITY)
            return f"{IMAGES}/{path.name}", score
    return None, None


def _frame_metres(region: Region, positions: Sequence[LatLng]) -> Floats:
    """Return the (east, north) of positions, metres from the origin of the region's frame, shape (n, 2)."""
    return np.stack(region.frame.to_metres(*np.transpose(positions)), axis=1)

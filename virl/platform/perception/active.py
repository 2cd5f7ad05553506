"""Looking around at a panorama, and looking closer at what seems to be there (V-IRL, active detection)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from virl.errors import BadInput
from virl.geo.globe import LatLng
from virl.platform.city.streetview import Box, Camera, Pose, StreetView, View
from virl.platform.perception.base import Detection, Detector
from virl.platform.perception.cameras import (
    carry_box,
    closer_camera,
    enclosing_box,
    intersection_over_union,
    share_in_common,
    sweep_cameras,
)
from virl.platform.perception.images import clip_box

SAME = 0.5
"""Least overlap, as a share of the smaller box, of two boxes that show one object; chosen."""
RIVAL = 0.5
"""Least intersection over union of two boxes for their labels to be rivals for one object; chosen."""
SEAM = 0.15
"""Largest gap between half an object and the edge that cuts it, as a share of the half's width; chosen."""


@dataclass(frozen=True, slots=True)
class Looking:
    """Settings of a look around at a panorama: which views are taken, and how candidates are confirmed."""

    range_deg: float = 180.0
    """Range of headings covered in degrees, half of it on each side."""
    fov: float = 60.0
    """Horizontal field of view of each picture, degrees."""
    pitch: float = 0.0
    """Pitch of the cameras, degrees above the horizon."""
    active: bool = True
    """True to confirm each candidate by a closer look; False if the first look decides."""
    recheck: float | Mapping[str, float] | None = None
    """Least score, [0, 1], at the closer look, for all labels or by label; `None` for the detector's own."""


FoundInView = tuple[View, Detection]
"""(view, detection in it)."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """An object seen from one panorama."""

    label: str
    """Label of the object, such as a place type."""
    score: float
    """Confidence of the detection, [0, 1]."""
    view: View
    """View in which the object was found."""
    box: Box
    """Box of the object in pixels of `view`."""
    position: LatLng
    """Position of the camera that saw the object."""


@dataclass(frozen=True, slots=True)
class Look:
    """The views and the objects found at one look around."""

    sweep: tuple[View, ...]
    """Views of the sweep, from left to right."""
    found: tuple[tuple[Detection, ...], ...]
    """Detections in each view of `sweep`, background labels included."""
    candidates: tuple[Sighting, ...]
    """Objects found at the first look, each once, best first."""
    sightings: tuple[Sighting, ...]
    """Objects confirmed at the closer look, in the views that show them best, best first."""


def look_around(
    streetview: StreetView,
    detector: Detector,
    pose: Pose,
    labels: Sequence[str],
    *,
    background: Sequence[str] = (),
    looking: Looking | None = None,
) -> Look:
    """Return the views around a pose, and the objects of `labels` in them, where no `background` fits better.

    What the detector finds at the first look with the score of its label is a candidate, unless another label
    scores more on it. `look_closer` confirms.

    Args:
        streetview: provider of the views.
        detector: finder of objects in them.
        pose: panorama to look from; the sweep is centred on its heading.
        labels: labels of the objects to find.
        background: labels of what else may be there, for the detector to choose instead; never reported.
        looking: settings; by default V-IRL's values.

    Raises:
        BadInput: there are no labels, one is empty or also in the background; or the detector gives a box
            that is none or lies outside its view.
        NoStreetView, NoImagery: the provider has no such view.
        ModelUnavailable: the detector's model is missing.
    """
    looking = looking or Looking()
    asked = _all_labels(labels, background)
    position = streetview.panorama(pose.pano_id).position
    cameras = sweep_cameras(pose.heading, looking.range_deg, looking.fov, pitch=looking.pitch)
    sweep = [streetview.view(pose.pano_id, camera) for camera in cameras]
    found = _detect(detector, sweep, asked)
    scores = detector.look_scores
    first = [
        Sighting(one.label, one.score, view, one.box, position)
        for view, detections in zip(sweep, found, strict=True)
        for one in detections
        if one.label in labels and one.score >= scores.of(one.label).first and not _has_rival(one, detections)
    ]
    aims = _join_candidates(first)
    candidates = [seen for seen, _ in aims]
    sightings = candidates
    if looking.active:
        wholes = [(seen.view, Detection(seen.label, seen.score, box)) for seen, box in aims]
        closer = look_closer(streetview, detector, wholes, asked, recheck=looking.recheck)
        sightings = _merge_sightings(
            Sighting(one.label, one.score, view, one.box, position) for view, one in filter(None, closer)
        )
    return Look(tuple(sweep), tuple(map(tuple, found)), tuple(candidates), tuple(sightings))


def look_closer(
    streetview: StreetView,
    detector: Detector,
    candidates: Sequence[FoundInView],
    labels: Sequence[str],
    *,
    recheck: float | Mapping[str, float] | None = None,
) -> list[FoundInView | None]:
    """Return (closer view, confirmed detection in it) for each candidate; `None` for one not confirmed.

    A candidate is confirmed if the closer view shows its label on the box where it should be, with the score
    of the label's second look or more, and no other label scores more on that box.

    Args:
        streetview: provider of the closer views.
        detector: finder of objects in them.
        candidates: detections to confirm; a box may reach beyond its view, to where more of the object is.
        labels: labels to ask the detector for: those of the candidates, and what else they may be.
        recheck: least score that confirms, [0, 1], of every label or by label; the others take the detector's
            own.

    Raises:
        BadInput: the detector gives a box that is none or lies outside its view.
        NoStreetView, NoImagery: the provider has no such view.
        ModelUnavailable: the detector's model is missing.
    """
    views = [streetview.view(view.pano_id, closer_camera(view.camera, one.box)) for view, one in candidates]
    confirmed: list[FoundInView | None] = []
    for candidate, view, detections in zip(candidates, views, _detect(detector, views, labels), strict=True):
        again = _match_closer(candidate, view.camera, detections)
        label = candidate[1].label
        least = recheck.get(label) if isinstance(recheck, Mapping) else recheck
        enough = detector.look_scores.of(label).second if least is None else least
        # A thing that another label fits better is no thing of this label, however high its score.
        if again and (again.score < enough or _has_rival(again, detections)):
            again = None
        confirmed.append((view, again) if again else None)
    return confirmed


def _all_labels(labels: Sequence[str], background: Sequence[str]) -> list[str]:
    """Return all labels, background last; raise `BadInput` for none, a blank one or one that is in both."""
    asked = list(dict.fromkeys([*labels, *background]))
    if not labels:
        raise BadInput("no labels to look for: give one or more")
    if blank := [label for label in asked if not label.strip()]:
        raise BadInput(f"label {blank[0]!r} is empty: name a kind of thing")
    if both := [label for label in labels if label in background]:
        raise BadInput(f"label {both[0]!r} is both a label and background: remove it from one")
    return asked


def _detect(detector: Detector, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
    """Return the detections of `labels` in each view, with boxes cut at the pictures' edges."""
    found: list[list[Detection]] = []
    for view, detections in zip(views, detector.detect(views, labels) if views else (), strict=True):
        width, height = view.camera.width, view.camera.height
        found.append([])
        for one in detections:
            box = clip_box(one.box, width, height)
            if box is None:
                raise BadInput(
                    f"the detector gave {one.label!r} the box {one.box}, outside its view of "
                    f"{width} x {height} pixels: use another detector"
                )
            found[-1].append(replace(one, box=box))
    return found


def _has_rival(one: Detection, others: Sequence[Detection]) -> bool:
    """Return whether another label than that of `one` scores more on the same box in the same view."""
    return any(
        other.label != one.label
        and other.score > one.score
        and intersection_over_union(other.box, one.box) >= RIVAL
        for other in others
    )


def _join_candidates(first: Sequence[Sighting]) -> list[tuple[Sighting, Box]]:
    """Return (candidate, box of the whole object in its view or beyond the edge), each once, best first."""
    aims: list[tuple[Sighting, Box]] = []
    for seen in _best_first(first):
        for i, (aim, box) in enumerate(aims):
            there = carry_box(seen.box, seen.view.camera, aim.view.camera)
            if seen.label != aim.label or seen.view is aim.view or there is None:
                continue
            if _are_halves(aim, seen, there):
                aims[i] = aim, enclosing_box(box, there)
                break
            if share_in_common(there, box) >= SAME:
                break
        else:
            aims.append((seen, seen.box))
    return aims


def _are_halves(aim: Sighting, seen: Sighting, there: Box) -> bool:
    """Return whether `aim`'s box and that of `seen`, `there` in `aim`'s view, are halves of one object."""
    width, mine, other = aim.view.camera.width, aim.box, seen.box
    slack = SEAM * max(mine[2] - mine[0], there[2] - there[0])
    to_right = width - mine[2] <= slack and other[0] <= slack and abs(there[0] - width) <= slack
    to_left = mine[0] <= slack and seen.view.camera.width - other[2] <= slack and abs(there[2]) <= slack
    beside = min(mine[3], there[3]) - max(mine[1], there[1])
    return (to_right or to_left) and beside >= SAME * min(mine[3] - mine[1], there[3] - there[1])


def _match_closer(
    candidate: FoundInView, closer: Camera, detections: Sequence[Detection]
) -> Detection | None:
    """Return the closer view's detection that best covers the candidate's place; `None` if none does."""
    view, seen = candidate
    there = carry_box(seen.box, view.camera, closer)
    if there is None:
        return None
    fitting = [
        one for one in detections if one.label == seen.label and share_in_common(one.box, there) >= SAME
    ]
    return max(fitting, key=lambda one: (intersection_over_union(one.box, there), one.score), default=None)


def _merge_sightings(sightings: Iterable[Sighting]) -> list[Sighting]:
    """Return the best sighting of each object, best first; sightings of one label that overlap are one."""
    kept: list[Sighting] = []
    for seen in _best_first(sightings):
        alike = [other for other in kept if other.label == seen.label]
        carried = [carry_box(seen.box, seen.view.camera, other.view.camera) for other in alike]
        if not any(
            box is not None and share_in_common(box, other.box) >= SAME
            for box, other in zip(carried, alike, strict=True)
        ):
            kept.append(seen)
    return kept


def _best_first(sightings: Iterable[Sighting]) -> list[Sighting]:
    """Return sightings by score, the best first."""
    return sorted(sightings, key=lambda seen: -seen.score)

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

SAME = 0.5  # chosen: boxes that have this share of the smaller one in common show the same thing
"""Least overlap, as a share of the smaller box, of two boxes that show one thing."""
RIVAL = 0.5  # chosen: least intersection over union of two boxes that are two names of one thing
SEAM = 0.15  # chosen: halves of a thing lie this share of a half's width from the edge between them at most


@dataclass(frozen=True, slots=True)
class Looking:
    """Settings of a look around. Angles in degrees; scores in [0, 1]."""

    range_deg: float = 180.0
    """Range of headings covered in degrees, half of it on each side."""
    fov: float = 60.0
    """Horizontal field of view of each picture, degrees."""
    pitch: float = 0.0
    """Pitch of the cameras above the horizon, degrees."""
    active: bool = True
    """True to look closer at each candidate; False if the first look decides."""
    recheck: float | Mapping[str, float] | None = None
    """Least score, [0, 1], at the closer look, for all labels or by label; by default the detector's own."""


Found = tuple[View, Detection]
"""A view with one detection in it."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """A thing seen from one panorama, for visual memory."""

    label: str
    score: float
    """Confidence of the detection, [0, 1]."""
    view: View
    box: Box
    """Box of the thing in pixels of `view`."""
    position: LatLng
    """Position of the camera that saw the thing."""


@dataclass(frozen=True, slots=True)
class Look:
    """The views and finds of one look around."""

    sweep: tuple[View, ...]
    """Views of the sweep, from left to right."""
    found: tuple[tuple[Detection, ...], ...]
    """Detections in each view of `sweep`, background labels included."""
    candidates: tuple[Sighting, ...]
    """Things found at the first look, each once, best first."""
    sightings: tuple[Sighting, ...]
    """Things confirmed at the closer look, in the views that show them best, best first."""


def look_around(
    streetview: StreetView,
    detector: Detector,
    pose: Pose,
    labels: Sequence[str],
    *,
    background: Sequence[str] = (),
    looking: Looking | None = None,
) -> Look:
    """Return what is found to both sides and ahead, each candidate confirmed by a closer look.

    What the detector finds at the first look with the score of its label is a candidate, unless another label
    scores more on it. `look_closer` confirms.

    Args:
        streetview: where the views come from.
        detector: what finds things in them.
        pose: where to stand; the sweep is centred on its heading.
        labels: what to look for.
        background: what else may be there: gives the detector something else to choose. Never reported.
        looking: how to look; defaults to V-IRL's values.

    Raises:
        BadInput: there are no labels, one is empty or also in the background; or the detector gives a box
            that is none or lies outside its view.
        NoStreetView, NoImagery: the provider has no such view.
        ModelUnavailable: the detector's model is missing.
    """
    looking = looking or Looking()
    asked = _check_labels(labels, background)
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
    candidates = [aim.seen for aim in aims]
    sightings = candidates
    if looking.active:
        wholes = [(aim.seen.view, Detection(aim.seen.label, aim.seen.score, aim.box)) for aim in aims]
        closer = look_closer(streetview, detector, wholes, asked, recheck=looking.recheck)
        sightings = _merge_sightings(
            Sighting(one.label, one.score, view, one.box, position) for view, one in filter(None, closer)
        )
    return Look(tuple(sweep), tuple(map(tuple, found)), tuple(candidates), tuple(sightings))


def look_closer(
    streetview: StreetView,
    detector: Detector,
    candidates: Sequence[Found],
    labels: Sequence[str],
    *,
    recheck: float | Mapping[str, float] | None = None,
) -> list[Found | None]:
    """Return what a narrowed view aimed at each candidate confirms; `None` for one it does not.

    A candidate is confirmed if the closer view shows its label on the box where it should be, with the score
    of the label's second look or more, and no other label scores more on that box. All closer views go to
    the detector at once.

    Args:
        streetview: where the closer views come from.
        detector: what looks again.
        candidates: what to confirm; a box may reach beyond its view, to where more of the thing is.
        labels: what the detector is asked for: those of the candidates, and what else they may be.
        recheck: least score that confirms, [0, 1], of every label or by label; the others take the detector's
            own.

    Returns:
        For each candidate the closer view and the confirmed detection in it; `None` if it is not there again.

    Raises:
        BadInput: the detector gives a box that is none or lies outside its view.
        NoStreetView, NoImagery: the provider has no such view.
        ModelUnavailable: the detector's model is missing.
    """
    views = [streetview.view(view.pano_id, closer_camera(view.camera, one.box)) for view, one in candidates]
    confirmed: list[Found | None] = []
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


@dataclass(frozen=True, slots=True)
class _Aim:
    """A candidate with the box that the closer look is aimed at."""

    seen: Sighting
    box: Box
    """Box to look at in pixels of the candidate's view, perhaps beyond its edge."""


def _check_labels(labels: Sequence[str], background: Sequence[str]) -> list[str]:
    """Return all labels to ask for, background included; raise an error for none, blank or repeated ones."""
    asked = list(dict.fromkeys([*labels, *background]))
    if not labels:
        raise BadInput("no labels to look for: give one or more")
    if blank := [label for label in asked if not label.strip()]:
        raise BadInput(f"label {blank[0]!r} is empty: name a kind of thing")
    if both := [label for label in labels if label in background]:
        raise BadInput(f"label {both[0]!r} is both a label and background: remove it from one")
    return asked


def _detect(detector: Detector, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
    """Return the detections in each view, with boxes cut at the pictures' edges."""
    if not views:
        return []
    return [
        [replace(one, box=_clip_to_view(one, view.camera)) for one in detections]
        for view, detections in zip(views, detector.detect(views, labels), strict=True)
    ]


def _clip_to_view(one: Detection, camera: Camera) -> Box:
    """Return a detection's box cut at the picture's edges; raise an error for a box outside."""
    box = clip_box(one.box, camera.width, camera.height)
    if box is None:
        raise BadInput(
            f"the detector gave {one.label!r} the box {one.box}, outside its view of "
            f"{camera.width} x {camera.height} pixels: use another detector"
        )
    return box


def _has_rival(one: Detection, others: Sequence[Detection]) -> bool:
    """Return whether another label scores more on the same box."""
    return any(
        other.label != one.label
        and other.score > one.score
        and intersection_over_union(other.box, one.box) >= RIVAL
        for other in others
    )


def _join_candidates(first: Sequence[Sighting]) -> list[_Aim]:
    """Return each candidate once, best first, with the box of the whole thing where an edge cuts it."""
    aims: list[_Aim] = []
    for seen in _best_first(first):
        for i, aim in enumerate(aims):
            there = carry_box(seen.box, seen.view.camera, aim.seen.view.camera)
            if seen.label != aim.seen.label or seen.view is aim.seen.view or there is None:
                continue
            if _are_halves(aim, seen, there):
                aims[i] = _Aim(aim.seen, enclosing_box(aim.box, there))
                break
            if share_in_common(there, aim.box) >= SAME:
                break
        else:
            aims.append(_Aim(seen, seen.box))
    return aims


def _are_halves(aim: _Aim, seen: Sighting, there: Box) -> bool:
    """Return whether a candidate goes on beyond its picture's edge in box `there` of the next view.

    Args:
        aim: the candidate.
        seen: the other one.
        there: the other one's box in the picture of the first.
    """
    width, mine, other = aim.seen.view.camera.width, aim.seen.box, seen.box
    slack = SEAM * max(mine[2] - mine[0], there[2] - there[0])
    to_right = width - mine[2] <= slack and other[0] <= slack and abs(there[0] - width) <= slack
    to_left = mine[0] <= slack and seen.view.camera.width - other[2] <= slack and abs(there[2]) <= slack
    beside = min(mine[3], there[3]) - max(mine[1], there[1])
    return (to_right or to_left) and beside >= SAME * min(mine[3] - mine[1], there[3] - there[1])


def _match_closer(candidate: Found, closer: Camera, detections: Sequence[Detection]) -> Detection | None:
    """Return the detection in the closer view that is most where the candidate should be, if any is there."""
    view, seen = candidate
    there = carry_box(seen.box, view.camera, closer)
    if there is None:
        return None
    fitting = [
        one for one in detections if one.label == seen.label and share_in_common(one.box, there) >= SAME
    ]
    return max(fitting, key=lambda one: (intersection_over_union(one.box, there), one.score), default=None)


def _merge_sightings(sightings: Iterable[Sighting]) -> list[Sighting]:
    """Return the best sighting of each thing, best first."""
    kept: list[Sighting] = []
    for seen in _best_first(sightings):
        if not any(_same_thing(seen, other) for other in kept):
            kept.append(seen)
    return kept


def _same_thing(a: Sighting, b: Sighting) -> bool:
    """Return whether two sightings have one label and boxes in common, in the first one's view."""
    there = carry_box(a.box, a.view.camera, b.view.camera)
    return a.label == b.label and there is not None and share_in_common(there, b.box) >= SAME


def _best_first(sightings: Iterable[Sighting]) -> list[Sighting]:
    """Return sightings by score, the best first."""
    return sorted(sightings, key=lambda seen: -seen.score)

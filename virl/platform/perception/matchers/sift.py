"""Matching by SIFT: nothing to download, and the same result every time.

Keypoints are paired by the ratio test (Lowe, IJCV 2004, section 7.1) on RootSIFT descriptors (Arandjelovic
and Zisserman, CVPR 2012); of the pairs, those are kept that fit one geometry found by MAGSAC++ (Barath et
al., CVPR 2020) as OpenCV implements it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any, Literal

import numpy as np
from cachetools import LRUCache, cached
from numpy.typing import NDArray
from pydantic import Field

from virl.extras import Late
from virl.platform.city.streetview import Image
from virl.platform.perception.base import Match
from virl.platform.perception.images import fingerprint, pixels_of
from virl.platform.perception.registry import Kind, MatcherSettings, Needs

cv2 = Late("cv2", extra="eyes")

Points = NDArray[np.float32]
"""Positions (x, y) in pixels, shape (n, 2)."""

_LEAST = {"homography": 4, "fundamental": 8}  # 7 pairs and less fit a fundamental matrix by chance
"""Least number of pairs of points to find a geometry from, by its name, such as "homography"."""
_CONFIDENCE = 0.999
"""Confidence, [0, 1], that no better geometry was missed; chosen."""
_ITERATIONS = 2000
"""Largest number of geometries that are tried; OpenCV's default for homographies."""
_KEPT = 64
"""Number of pictures whose keypoints, at most 1 MB each, are held in memory; chosen."""


class SiftSettings(MatcherSettings):
    """Settings of the matcher; `platform/models/sift.yaml` gives the reasons for the values."""

    kind: Literal["sift"]
    keypoints: int = Field(ge=1)
    """Largest number of keypoints of a picture, the strongest first."""
    contrast: float = Field(ge=0, le=1)
    """Least contrast of a keypoint, as OpenCV counts it; less finds more and weaker ones."""
    side: int = Field(ge=16, le=2048)
    """Length in pixels to which a smaller picture's longer side is enlarged first."""
    ratio: float = Field(gt=0, le=1)
    """Largest ratio of the distances to the nearest and the next nearest descriptor of a pair."""
    geometry: Literal["homography", "fundamental"]
    """Geometry that pairs of points must fit, which depends on what the pictures show.
    One plane (or a turn on the spot), or two views of anything that stands still."""
    error: float = Field(gt=0)
    """Largest error in pixels of the enlarged picture that a pair may have."""

    def needs(self) -> Needs:
        """Return the requirements: the package OpenCV."""
        return Needs(("cv2",), "eyes")


@dataclass(frozen=True, slots=True)
class _Features:
    """The keypoints found in a picture, with their descriptors."""

    points: Points
    """Positions of the keypoints in pixels of the enlarged picture, shape (n, 2)."""
    descriptors: NDArray[np.float32]
    """Descriptors of length 1, shape (n, 128)."""
    scale: float
    """Ratio of the enlarged picture's size to the picture's."""


class SiftMatcher:
    """A matcher of pictures whose view, size and light differ moderately; safe to share between threads."""

    def __init__(self, settings: SiftSettings) -> None:
        self._settings = settings
        find = partial(_find, settings=settings)
        self._features = cached(LRUCache(_KEPT), key=fingerprint, lock=Lock())(find)

    def match(self, pairs: Sequence[tuple[Image, Image]]) -> list[Match]:
        """Return the points that the two pictures of each pair have in common; none where no geometry fits.

        Raises:
            BadInput: a picture is none.
        """
        # By identity, so that a picture that is in several pairs is hashed once.
        pictures = {id(image): image for pair in pairs for image in pair}
        found = {key: self._features(pixels_of(image)) for key, image in pictures.items()}
        return [_common(found[id(first)], found[id(second)], self._settings) for first, second in pairs]


def _find(image: Image, settings: SiftSettings) -> _Features:
    """Return the keypoints of a picture, enlarged first if it is small."""
    scale = max(settings.side / max(image.shape[:2]), 1.0)
    grey = cv2.cvtColor(np.ascontiguousarray(image), cv2.COLOR_RGB2GRAY)
    if scale > 1:
        grey = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
    sift = cv2.SIFT.create(nfeatures=settings.keypoints, contrastThreshold=settings.contrast)
    keypoints, descriptors = sift.detectAndCompute(grey, None)
    if descriptors is None:
        descriptors = np.empty((0, 128), np.float32)
    # RootSIFT (Arandjelovic and Zisserman, CVPR 2012): roots of shares in place of descriptors.
    total = np.maximum(descriptors.sum(axis=1, keepdims=True), np.finfo(np.float32).tiny)
    points = np.array([keypoint.pt for keypoint in keypoints], np.float32).reshape(-1, 2)
    return _Features(points, np.sqrt(descriptors / total), scale)


def _common(first: _Features, second: _Features, settings: SiftSettings) -> Match:
    """Return the points that two pictures have in common and that fit one geometry, in pixels of each."""
    rows, columns = _pair(first.descriptors, second.descriptors, settings.ratio)
    a, b = first.points[rows], second.points[columns]
    kept = _fits(a, b, settings)
    return Match(a[kept] / np.float32(first.scale), b[kept] / np.float32(second.scale))


def _pair(
    first: NDArray[np.float32], second: NDArray[np.float32], ratio: float
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return (rows of the first, rows of the second) descriptors that pair by the ratio test, each once."""
    # The ratio test needs a next nearest.
    if not len(first) or len(second) < 2:
        return np.empty(0, np.intp), np.empty(0, np.intp)
    nearest: dict[int, Any] = {}
    for best, next_best in cv2.BFMatcher(cv2.NORM_L2).knnMatch(first, second, k=2):
        rival = nearest.get(best.trainIdx)
        if best.distance < ratio * next_best.distance and (rival is None or best.distance < rival.distance):
            nearest[best.trainIdx] = best
    rows = np.array([pair.queryIdx for pair in nearest.values()], np.intp)
    return rows, np.array(list(nearest), np.intp)


def _fits(first: Points, second: Points, settings: SiftSettings) -> NDArray[np.bool_]:
    """Return for each pair of points whether it fits the best geometry, shape (n,)."""
    none = np.zeros(len(first), bool)
    if len(first) < _LEAST[settings.geometry]:
        return none
    try:
        if settings.geometry == "homography":
            limits = {"maxIters": _ITERATIONS, "confidence": _CONFIDENCE}
            _, inliers = cv2.findHomography(first, second, cv2.USAC_MAGSAC, settings.error, **limits)
        else:
            _, inliers = cv2.findFundamentalMat(
                first, second, cv2.USAC_MAGSAC, settings.error, _CONFIDENCE, _ITERATIONS
            )
    except cv2.error:  # raised, by an assertion, where all samples are degenerate: such as points on a line
        return none
    return none if inliers is None else inliers.ravel().astype(bool)


KIND = Kind("matcher", SiftSettings, lambda settings, _: SiftMatcher(settings))

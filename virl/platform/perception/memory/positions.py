"""From boxes in views to rays, and from rays to positions, each with its error.

The ground is taken to be flat around the camera, and things to stand on it. The ray through the middle of a
box's lower edge then meets the ground where the thing stands, `camera height / tan(depression)` away; the
ray through the upper edge meets the thing's top, at the typical height of its kind. A thing that something
hides has its foot seen too high and its top too low, so that the foot tells too long a distance and the top
too short a one: the truth lies between, and the two together say how far to trust them. Each position has a
covariance, on a flat plane in metres around the camera.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, exp, hypot, isfinite, log, pi, radians, sin, sqrt, tan

import numpy as np
from scipy.optimize import least_squares

from virl.geo.globe import Floats, LatLng, LocalFrame, signed_turn
from virl.platform.perception.memory.objects import Estimate, Seen
from virl.platform.perception.memory.settings import MemorySettings

EDGE_PIXELS = 1.5
"""Pixels from a picture's edge, plus twice the box's error, within which a box counts as cut; chosen."""
NEAREST_M = 1.0
"""Least distance in metres of an object from the camera; chosen."""
VAGUE = 1.0
"""Largest standard deviation of the log of a distance read off a box's edge that is still used; chosen."""
AGREE = 2.0
"""Largest difference, in standard deviations, between two readings of one distance that agree; chosen."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The sides of a box that are cut by the picture's edge, beyond which the object may go on."""

    left: bool
    """True if the left side is cut."""
    top: bool
    """True if the upper side is cut."""
    right: bool
    """True if the right side is cut."""
    bottom: bool
    """True if the lower side is cut."""

    @property
    def sideways(self) -> bool:
        """Return whether the box is cut on the left or the right."""
        return self.left or self.right

    @property
    def anywhere(self) -> bool:
        """Return whether the box is cut on any side."""
        return self.sideways or self.top or self.bottom


@dataclass(frozen=True, slots=True)
class Span:
    """The directions that a box covers, which are the same at every zoom of one panorama."""

    heading: float
    """Heading of the middle of the box, degrees clockwise from north."""
    width: float
    """Width of the box in heading, degrees."""
    low: float
    """Pitch of the lower edge of the box, degrees above the horizon."""
    high: float
    """Pitch of the upper edge of the box, degrees above the horizon."""
    cut: Cut
    """Sides of the box that the picture's edge cuts."""


@dataclass(frozen=True, slots=True)
class Ray:
    """The direction and distance of an object by one sighting, with their errors."""

    origin: LatLng
    """Position of the camera."""
    pano_id: str
    """Id of the panorama from which the object was seen."""
    heading: float
    """Direction of the object, degrees clockwise from north."""
    heading_error: float
    """Standard deviation of the heading, radians."""
    metres: float
    """Median distance of the object along the ground, metres."""
    share: float
    """Standard deviation of the logarithm of `metres`."""
    source: str
    """Name of the part of the box from which the distance was read."""


def span_of(seen: Seen, jitter: float) -> Span:
    """Return the directions that a sighting's box covers; its edges err by `jitter`, a share of its size."""
    camera, box = seen.camera, seen.box
    left, right = camera.sector(box)
    # A box may cover more than half a circle, which a signed turn takes for a negative one.
    width = signed_turn(left, right)
    if width < 0:
        width += 360.0
    middle = (box[0] + box[2]) / 2
    aside, beyond = (EDGE_PIXELS + 2 * jitter * (box[i + 2] - box[i]) for i in (0, 1))
    # An edge so near to the border of the picture may be the border and not that of the thing.
    cut = Cut(
        box[0] <= aside, box[1] <= beyond, box[2] >= camera.width - aside, box[3] >= camera.height - beyond
    )
    low, high = camera.direction(middle, box[3])[1], camera.direction(middle, box[1])[1]
    return Span((left + width / 2) % 360.0, width, low, high, cut)


def ray_of(seen: Seen, settings: MemorySettings) -> Ray:
    """Return the direction and distance of an object by one sighting, with their errors."""
    span = span_of(seen, settings.jitter)
    pixel = 1 / seen.camera.focal
    heading_error = hypot(
        radians(settings.heading_error_deg),
        settings.jitter * radians(span.width),
        pixel,
        radians(max(span.width, span.high - span.low) / 2) if span.cut.sideways else 0.0,
    )
    edge_error = hypot(settings.jitter * radians(span.high - span.low), pixel)
    metres, share, source = _distance(span, edge_error, settings.height(seen.label), settings)
    within = min(max(metres, NEAREST_M), settings.reach_m)
    # What the limits moved it by counts as error, too.
    share = hypot(share, log(metres / within))
    return Ray(seen.position, seen.pano_id, span.heading, heading_error, within, share, source)


@dataclass(frozen=True, slots=True)
class _Reading:
    """A distance as the logarithm of metres, with the logarithm's standard deviation."""

    log: float
    """Natural logarithm of the metres."""
    error: float
    """Standard deviation of `log`."""


def _distance(
    span: Span, edge_error: float, height: float | None, settings: MemorySettings
) -> tuple[float, float, str]:
    """Return (median metres to an object `height` metres high, error of their log, source in words).

    `edge_error` is the error of the box's edges in radians, `height` the object's in metres if known.
    """
    guess = settings.guess_m, settings.guess_share, "a guess"
    if not settings.rules.box_range:
        return guess
    above = settings.camera_height_m
    foot = None if span.cut.bottom else _distance_by_pitch(span.low, edge_error, above, settings.ground_m)
    top = None
    if height is not None and not span.cut.top:
        spread = hypot(settings.height_share * height, settings.ground_m)
        top = _distance_by_pitch(span.high, edge_error, above - height, spread)
    if foot and top:
        return _combine(foot, top)
    if foot:
        return exp(foot.log), hypot(foot.error, settings.hidden_share), "its foot"
    if top:
        return exp(top.log), hypot(top.error, settings.hidden_share), "its top"
    return guess


def _distance_by_pitch(pitch: float, pitch_error: float, drop: float, drop_error: float) -> _Reading | None:
    """Return the distance of a point seen at a pitch, `drop` metres below the camera; `None` if too vague.

    The pitch is in degrees above the horizon, its error in radians, that of the drop in metres.
    """
    down = radians(-pitch)
    # What is below the camera is seen below the horizon, and the other way round; else it tells nothing.
    if drop == 0 or down * drop <= 0 or abs(down) >= radians(89):
        return None
    # 1 / (sin cos) is the derivative of log(tan(down)).
    error = hypot(pitch_error / abs(sin(down) * cos(down)), drop_error / abs(drop))
    if not isfinite(error) or error > VAGUE:
        return None
    return _Reading(log(drop / tan(down)), error)


def _combine(foot: _Reading, top: _Reading) -> tuple[float, float, str]:
    """Return (median metres, error of their logarithm, name of the source) by an object's foot and top."""
    gap = abs(foot.log - top.log)
    # Each reading weighs by the inverse of its variance.
    by_foot, by_top = foot.error**-2, top.error**-2
    error = hypot(gap / 2, sqrt(1 / (by_foot + by_top)))
    # A hidden thing: the truth lies between, as told above, and neither reading weighs more.
    if gap > AGREE * hypot(foot.error, top.error):
        return exp((foot.log + top.log) / 2), error, "its foot and top, partly hidden"
    mean = (by_foot * foot.log + by_top * top.log) / (by_foot + by_top)
    return exp(mean), error, "its foot and top"


OUTLIER = 1.5
"""Number of standard deviations from which on a residual of a ray counts less (soft L1); chosen."""


def place(ray: Ray, position_m: float) -> Estimate:
    """Return an object's position by one ray, with its error; a camera errs by `position_m` metres."""
    angle = radians(ray.heading)
    along = np.array([np.sin(angle), np.cos(angle)])
    across = np.array([along[1], -along[0]])
    # An ellipse: along the ray lies the error of the distance, across it that of the direction.
    spread = (ray.metres * ray.share) ** 2 * np.outer(along, along)
    spread += (ray.metres * ray.heading_error) ** 2 * np.outer(across, across)
    spread += position_m**2 * np.eye(2)
    x, y = ray.metres * along
    return _estimate(LocalFrame(ray.origin), float(x), float(y), spread)


def fuse(rays: Sequence[Ray], position_m: float) -> Estimate:
    """Return an object's position by all rays, with its error, where cameras err by `position_m` metres.

    Two directions that cross triangulate it; the smaller the parallax, the more the distances decide, and the
    larger the error along the rays.

    Rays from one panorama share its errors, and together weigh as much as one. `position_m` is the error of
    the rays' origins in metres, each way.
    """
    first = [place(ray, position_m) for ray in rays]
    if len(rays) == 1:
        return first[0]
    frame = LocalFrame(rays[0].origin)
    origins = np.array([frame.point(ray.origin) for ray in rays])
    weights = np.array([1 / (estimate.sigma**2) for estimate in first])
    start = weights @ np.array([frame.point(estimate.position) for estimate in first]) / weights.sum()
    times = Counter(ray.pano_id for ray in rays)
    # n rays with errors larger by the root of n weigh as much as one.
    repeat = np.sqrt([times[ray.pano_id] for ray in rays])
    headings = np.radians([ray.heading for ray in rays])
    # Distances err by shares of themselves, hence their logarithms.
    logs = np.log([ray.metres for ray in rays])
    # The error of the origin, as an angle and as a share of the distance.
    blur = position_m / _lengths(start - origins)
    heading_errors = np.hypot([ray.heading_error for ray in rays], blur) * repeat
    log_errors = np.hypot([ray.share for ray in rays], blur) * repeat

    def residuals(point: Floats) -> Floats:
        """Return the errors of all rays at a point (east, north) in metres, in standard deviations."""
        away = point - origins
        # Headings run clockwise from north, hence east over north.
        turn = ((np.arctan2(away[:, 0], away[:, 1]) - headings) + pi) % (2 * pi) - pi
        return np.concatenate([turn / heading_errors, (np.log(_lengths(away)) - logs) / log_errors])

    def slopes(point: Floats) -> Floats:
        """Return the derivatives of the residuals by the point's east and north."""
        away = point - origins
        squares = (_lengths(away) ** 2)[:, None]
        turns = np.stack([away[:, 1], -away[:, 0]], axis=1) / squares / heading_errors[:, None]
        return np.concatenate([turns, away / squares / log_errors[:, None]])

    found = least_squares(residuals, start, jac=slopes, loss="soft_l1", f_scale=OUTLIER)
    # The curvature of the squares at their least, as usual for least squares.
    covariance = np.linalg.inv(found.jac.T @ found.jac)
    # About chi-squared for each degree of freedom: two residuals a ray, less two unknowns.
    misfit = 2 * float(found.cost) / (2 * len(rays) - 2)
    return _estimate(frame, float(found.x[0]), float(found.x[1]), covariance * max(1.0, misfit))


def separation(first: Estimate, second: Estimate) -> tuple[float, float, float]:
    """Return (metres between two positions, their squared Mahalanobis distance, the error's area in m²).

    The area is `2 pi sqrt(det covariance)` of their difference.
    """
    apart = np.array(LocalFrame(first.position).point(second.position))
    spread = _matrix(first) + _matrix(second)
    square = float(apart @ np.linalg.solve(spread, apart))
    return float(np.hypot(*apart)), square, 2 * pi * float(np.sqrt(np.linalg.det(spread)))


def surprise(square: float, area: float, density: float) -> float:
    """Return -2 ln of the odds of one object over two, by `separation`'s values and the objects per m².

    Args:
        square: squared Mahalanobis distance between them.
        area: square metres of their error, as in `separation`.
        density: expected number of objects of a label on a square metre.
    """
    return square + 2 * log(density * area)


def _estimate(frame: LocalFrame, x: float, y: float, spread: Floats) -> Estimate:
    """Return an estimate at x metres east, y north of a frame's origin, with covariance `spread` in m²."""
    covariance = (float(spread[0, 0]), float(spread[0, 1]), float(spread[1, 1]))
    return Estimate(frame.position(x, y), covariance)


def _matrix(estimate: Estimate) -> Floats:
    """Return the covariance of an estimate as a matrix in square metres, shape (2, 2)."""
    east, mixed, north = estimate.covariance
    return np.array([[east, mixed], [mixed, north]])


def _lengths(away: Floats) -> Floats:
    """Return the length of each of n vectors (n, 2) in metres, at least a tenth of `NEAREST_M`."""
    return np.maximum(np.hypot(away[:, 0], away[:, 1]), NEAREST_M / 10)

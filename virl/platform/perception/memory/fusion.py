"""Positions from rays: each with a covariance, on a flat plane in metres around the camera."""

from collections import Counter
from collections.abc import Sequence
from math import log, pi, radians

import numpy as np
from scipy.optimize import least_squares

from virl.geo.globe import Floats, LocalFrame
from virl.platform.perception.memory.objects import Estimate
from virl.platform.perception.memory.rays import NEAREST_M, Ray

OUTLIER = 1.5  # standard deviations from which on a residual counts less (soft L1); chosen
"""Standard deviations beyond which a ray counts less."""


def place(ray: Ray, position_m: float) -> Estimate:
    """Return the position of a thing by one ray, with its error.

    Args:
        ray: a direction and a distance.
        position_m: error of the ray's origin, metres each way.
    """
    along = _unit(ray.heading)
    across = np.array([along[1], -along[0]])
    # An ellipse: along the ray lies the error of the distance, across it that of the direction.
    spread = (ray.metres * ray.share) ** 2 * np.outer(along, along)
    spread += (ray.metres * ray.heading_error) ** 2 * np.outer(across, across)
    spread += position_m**2 * np.eye(2)
    x, y = ray.metres * along
    return _estimate(LocalFrame(ray.origin), float(x), float(y), spread)


def fuse(rays: Sequence[Ray], position_m: float) -> Estimate:
    """Return the position of a thing by several rays, with its error, by robust least squares.

    Two directions that cross triangulate it; the smaller the parallax, the more the distances decide, and the
    larger the error along the rays.

    Rays from one panorama share its errors, and together weigh as much as one.

    Args:
        rays: at least one.
        position_m: as in `place`.
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
        away = point - origins
        # Headings run clockwise from north, hence east over north.
        turn = _wrap_angles(np.arctan2(away[:, 0], away[:, 1]) - headings)
        return np.concatenate([turn / heading_errors, (np.log(_lengths(away)) - logs) / log_errors])

    def slopes(point: Floats) -> Floats:
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
    """Return metres between two positions, their squared Mahalanobis distance, and the error's area in m².

    Returns:
        Metres, the squared Mahalanobis distance, and the square metres that the error of their difference
        covers: `2 pi sqrt(det covariance)`.
    """
    apart = np.array(LocalFrame(first.position).point(second.position))
    spread = _matrix(first) + _matrix(second)
    square = float(apart @ np.linalg.solve(spread, apart))
    return float(np.hypot(*apart)), square, 2 * pi * float(np.sqrt(np.linalg.det(spread)))


def surprise(square: float, area: float, density: float) -> float:
    """Return minus twice the log of how much likelier two positions are of one thing than of two.

    Args:
        square: squared Mahalanobis distance between them.
        area: square metres as in `separation`.
        density: things of a kind on a square metre.
    """
    return square + 2 * log(density * area)


def _estimate(frame: LocalFrame, x: float, y: float, spread: Floats) -> Estimate:
    """Return an estimate at x and y, metres east and north of the frame's origin."""
    covariance = (float(spread[0, 0]), float(spread[0, 1]), float(spread[1, 1]))
    return Estimate(frame.position(x, y), covariance)


def _matrix(estimate: Estimate) -> Floats:
    """Return the covariance of an estimate, square metres, shape (2, 2)."""
    east, mixed, north = estimate.covariance
    return np.array([[east, mixed], [mixed, north]])


def _unit(heading: float) -> Floats:
    """Return the unit vector (east, north) of a heading, degrees."""
    angle = radians(heading)
    return np.array([np.sin(angle), np.cos(angle)])


def _lengths(away: Floats) -> Floats:
    """Return the lengths, at least a tenth of `NEAREST_M`, so that things at the foot have a direction."""
    return np.maximum(np.hypot(away[:, 0], away[:, 1]), NEAREST_M / 10)


def _wrap_angles(angles: Floats) -> Floats:
    """Return angles in [-pi, pi)."""
    return (angles + pi) % (2 * pi) - pi

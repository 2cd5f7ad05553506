"""Meshes of railways: two rails, flat on the ground."""

from collections.abc import Sequence

import numpy as np
import shapely

from virl.geo import Floats, Ints
from virl.platform.providers.offline.plan import Track
from virl.platform.providers.offline.render.mesh import Quads, join, quads

GAUGE_M = 1.435
RAIL_M = 0.09  # wider than a rail is, so that it shows; chosen
LONGEST_M = 15.0  # of one quad, so that far ones are left out
STEEL = (0.46, 0.46, 0.47)


def track_mesh(tracks: Sequence[Track]) -> Quads:
    """The rails of all tracks; the gravel between them is ground."""
    lines = [shapely.segmentize(shapely.LineString(track.line), LONGEST_M) for track in tracks]
    if not lines:
        return join([])
    xy, owner = shapely.get_coordinates(lines, return_index=True)
    inner = owner[1:] == owner[:-1]
    start, end = xy[:-1][inner], xy[1:][inner]
    side = _left(xy, owner)
    begin, stop = side[:-1][inner], side[1:][inner]
    strips = []
    for aside in (-GAUGE_M / 2, GAUGE_M / 2):
        low, high = aside - RAIL_M / 2, aside + RAIL_M / 2
        strips.append(
            np.stack([start + low * begin, end + low * stop, end + high * stop, start + high * begin], axis=1)
        )
    flat = np.concatenate(strips)
    return quads(np.concatenate([flat, np.full((len(flat), 4, 1), 0.01)], axis=2), paint=STEEL)


def _left(xy: Floats, owner: Ints) -> Floats:
    """Unit vectors to the left of lines at their points, between those of the pieces that meet there."""
    way = np.diff(xy, axis=0)
    way /= np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-9)
    way[owner[1:] != owner[:-1]] = 0.0
    mean = np.concatenate([way[:1] * 0, way]) + np.concatenate([way, way[:1] * 0])
    mean /= np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-9)
    left: Floats = np.stack([-mean[:, 1], mean[:, 0]], axis=1)
    return left

"""Cuts the part of an extract out that is read."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import osmium

from virl.geo import LatLng, LocalFrame
from virl.region import Region

BAND_M = 1000.0
"""Nodes so far beyond a region are remembered: ways between them may cross it; chosen."""

_Corners = tuple[LatLng, LatLng]
"""South-west and north-east."""


def cut(path: Path, region: Region, part: Path) -> None:
    """Write the ways and multipolygons that touch a region, with all their nodes, and the points in it.

    A way touches it that has a node in its box, or a segment through the box between two nodes of which both
    lie within `BAND_M` of it. Memory grows with the region and this band, not with the file.
    """
    box = _box(region)
    (south, west), (north, east) = _widened(box)
    near: dict[int, LatLng] = {}
    inside, ways = set[int](), set[int]()
    with osmium.BackReferenceWriter(str(part), ref_src=str(path), remove_tags=False) as writer:
        for one in osmium.FileProcessor(str(path)):
            if isinstance(one, osmium.osm.Node):
                at = one.location
                if at.valid() and south <= at.lat <= north and west <= at.lon <= east:
                    near[one.id] = LatLng(at.lat, at.lon)
                    if _is_in(near[one.id], box):
                        inside.add(one.id)
                        if one.tags:
                            writer.add(one)
            elif isinstance(one, osmium.osm.Way):
                nodes = [node.ref for node in one.nodes]
                if not inside.isdisjoint(nodes) or _crosses(nodes, near, box):
                    ways.add(one.id)
                    writer.add(one)
            elif (
                isinstance(one, osmium.osm.Relation)
                and one.tags.get("type") == "multipolygon"
                and any(member.type == "w" and member.ref in ways for member in one.members)
            ):
                writer.add(one)


def _box(region: Region) -> _Corners:
    lats, lngs = [corner.lat for corner in region.corners], [corner.lng for corner in region.corners]
    return LatLng(min(lats), min(lngs)), LatLng(max(lats), max(lngs))


def _widened(box: _Corners) -> _Corners:
    low, high = box
    return LocalFrame(low).position(-BAND_M, -BAND_M), LocalFrame(high).position(BAND_M, BAND_M)


def _is_in(at: LatLng, box: _Corners) -> bool:
    low, high = box
    return low.lat <= at.lat <= high.lat and low.lng <= at.lng <= high.lng


def _crosses(nodes: Sequence[int], near: Mapping[int, LatLng], box: _Corners) -> bool:
    """Whether a way without a node in the box has a segment through it."""
    if near.keys().isdisjoint(nodes):
        return False
    spots = [near.get(node) for node in nodes]
    return any(here and there and _is_crossed(here, there, box) for here, there in pairwise(spots))


def _is_crossed(here: LatLng, there: LatLng, box: _Corners) -> bool:
    """Whether a straight line between two positions touches a box: by Liang and Barsky's clipping."""
    low, high = box
    first, last = 0.0, 1.0
    for start, end, least, most in (
        (here.lat, there.lat, low.lat, high.lat),
        (here.lng, there.lng, low.lng, high.lng),
    ):
        run = end - start
        if run == 0.0:
            if not least <= start <= most:
                return False
            continue
        enters, leaves = sorted(((least - start) / run, (most - start) / run))
        first, last = max(first, enters), min(last, leaves)
    return first <= last

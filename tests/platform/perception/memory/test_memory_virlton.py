"""Virlton, with exact boxes of everything that its views truly show."""

from pathlib import Path

import numpy as np
import pytest
from made_world import settings

from virl.geo.globe import distance
from virl.platform.city.streetview import Camera, View
from virl.platform.perception.active import Sighting
from virl.platform.perception.cameras import sweep_cameras
from virl.platform.perception.memory import VisualMemory
from virl.platform.providers.offline.city import kept_plan, open_offline

SEED, FIRST, STEPS = 1, "vt-01581", 7  # a street with two bins, benches, and a mailbox on it
KINDS = {"trash bin", "fire hydrant", "bench", "mailbox"}
WITHIN_M = 35.0


@pytest.mark.slow
def test_a_street_is_counted_right_and_placed_to_two_metres(tmp_path: Path) -> None:
    city = open_offline("virlton", "Virlton", SEED)
    assert city.truth is not None
    layout = kept_plan(SEED).layout
    places = {thing.id: layout.frame.position(thing.x, thing.y) for thing in layout.furniture}
    memory = VisualMemory.open(tmp_path, settings())
    owners: dict[str, set[str]] = {}
    shown: set[str] = set()
    pano, heading, been = city.streetview.panorama(FIRST), None, set()
    for _ in range(STEPS):
        been.add(pano.id)
        way = min(
            (link for link in pano.links if link.pano_id not in been),
            key=lambda link: abs((link.heading - (heading or 0.0) + 180) % 360 - 180),
        )
        heading = way.heading
        sightings, names = [], []
        for camera in sweep_cameras(heading, 180.0, 60.0):
            for thing in city.truth.visible(pano.id, camera):
                if thing.kind in KINDS and thing.distance <= WITHIN_M and thing.visible_fraction >= 0.3:
                    sightings.append(exact(thing.kind, thing.box, pano.id, camera, pano.position))
                    names.append(thing.id)
        for verdict, name in zip(memory.add(sightings), names, strict=True):
            owners.setdefault(verdict.object_id, set()).add(name)
        shown.update(names)
        pano = city.streetview.panorama(way.pano_id)
    for kept, gone in memory.merge():
        owners[kept] |= owners.pop(gone)
    assert len(shown) >= 4
    assert sorted(map(sorted, owners.values())) == sorted([name] for name in shown)
    errors = [distance(thing.estimate.position, places[min(owners[thing.id])]) for thing in memory.objects()]
    assert np.median(errors) < 1.0
    assert max(errors) < 4.0


def exact(label: str, box: tuple[float, float, float, float], pano_id: str, camera: Camera, position: object):
    blank = np.zeros((camera.height, camera.width, 3), np.uint8)
    return Sighting(label, 0.8, View(pano_id, camera, blank), box, position)

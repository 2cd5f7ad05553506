"""A straight street with furniture, seen exactly, and an agent that counts there."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import atan, atan2, cos, degrees, hypot, radians, sin
from pathlib import Path
from typing import Any, cast

import numpy as np

from virl.agent.agent import Agent
from virl.agent.character import Character
from virl.agent.character_file import LoadedCharacter, recorded_character
from virl.agent.run import Audience, Run
from virl.errors import NoStreetView, NotFound
from virl.geo.globe import LatLng, LocalFrame, bearing, distance
from virl.geo.region import Region
from virl.journal.journal import Journal
from virl.journal.records import StartRecord, StepRecord
from virl.mind.rules import RuleMind
from virl.platform.city.city import City
from virl.platform.city.streetview import Box, Camera, Image, Link, Panorama, Pose, View
from virl.platform.movers.base import LinksMover
from virl.platform.navigators.region import RegionNavigator
from virl.platform.perception.base import Detection, LookScores, Match, Senses
from virl.platform.perception.models import Models
from virl.routines.counting.rounds import count_along
from virl.routines.counting.routine import onward_by_hop

FRAME = LocalFrame(LatLng(51.5, -0.12))
CAMERA_M = 2.5
REACH_M = 28.0
PANORAMAS = 14
APART_M = 8.0


@dataclass(frozen=True)
class Thing:
    kind: str
    x: float
    y: float
    width: float = 0.6
    height: float = 1.0


FURNITURE = (
    Thing("trash bin", 12.0, 5.0),
    Thing("trash bin", 47.0, -6.0),
    Thing("trash bin", 50.0, -6.0),
    Thing("bench", 70.0, 6.0, 1.6, 0.85),
    Thing("mailbox", 30.0, 5.0, 0.6, 1.2),
)


class Street:
    """Street view: panoramas in a row from west to east, each linked to its neighbours."""

    def __init__(self, count: int = PANORAMAS) -> None:
        self.positions = [FRAME.position(APART_M * number, 0.0) for number in range(count)]

    def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
        metres = [distance(position, one) for one in self.positions]
        best = int(np.argmin(metres))
        return self.panorama(f"p{best}") if metres[best] <= radius else None

    def panorama(self, pano_id: str) -> Panorama:
        number = self._number(pano_id)
        here = self.positions[number]
        ends = [other for other in (number - 1, number + 1) if 0 <= other < len(self.positions)]
        links = tuple(
            Link(f"p{end}", bearing(here, self.positions[end]), distance(here, self.positions[end]))
            for end in ends
        )
        return Panorama(pano_id, here, 90.0, links, "2026-05")

    def view(self, pano_id: str, camera: Camera) -> View:
        self._number(pano_id)
        pixels = np.random.default_rng(7).integers(
            0, 255, (camera.height // 8, camera.width // 8, 3), np.uint8
        )
        return View(pano_id, camera, pixels.repeat(8, axis=0).repeat(8, axis=1))

    def _number(self, pano_id: str) -> int:
        if not (pano_id[1:].isdecimal() and int(pano_id[1:]) < len(self.positions)):
            raise NoStreetView(f"there is no panorama {pano_id!r}")
        return int(pano_id[1:])


class ExactDetector:
    """Finds what stands within reach, in its exact box."""

    def __init__(self, things: Sequence[Thing] = FURNITURE) -> None:
        self._things = things
        self._street = Street(100)

    look_scores = LookScores(0.55, 0.65)

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        return [
            [
                Detection(thing.kind, 0.9, box)
                for thing in self._things
                if thing.kind in labels and (box := self._box(thing, view)) is not None
            ]
            for view in views
        ]

    def _box(self, thing: Thing, view: View) -> Box | None:
        x, y = FRAME.point(self._street.panorama(view.pano_id).position)
        away = hypot(thing.x - x, thing.y - y)
        heading = degrees(atan2(thing.x - x, thing.y - y))
        if away > REACH_M or cos(radians(heading - view.camera.heading)) < 0.6:
            return None
        half, middle = degrees(atan(thing.width / 2 / away)), -degrees(atan(CAMERA_M / 2 / away))
        foot, top = (degrees(atan((rise - CAMERA_M) / away)) for rise in (0.0, thing.height))
        left, right = (_pixel(view.camera, heading + turn, middle)[0] for turn in (-half, half))
        box = (left, _pixel(view.camera, heading, top)[1], right, _pixel(view.camera, heading, foot)[1])
        width, height = view.camera.width, view.camera.height
        whole = box[0] >= 0 and box[1] >= 0 and box[2] <= width and box[3] <= height
        return box if whole else None


class NoMatcher:
    """Finds nothing in common."""

    def match(self, pairs: Sequence[tuple[Image, Image]]) -> list[Match]:
        return [Match(np.empty((0, 2), np.float32), np.empty((0, 2), np.float32)) for _ in pairs]


class Directory:
    """Maps that know two addresses."""

    def geocode(self, address: str) -> LatLng:
        known = {"West End": 0, "East End": PANORAMAS - 1}
        if address not in known:
            raise NotFound(f"no such address: {address}")
        return Street().positions[known[address]]


def made_city(street: Street | None = None) -> City:
    nothing = cast("Any", None)
    return City("testville", "Testville", FRAME.origin, street or Street(), nothing, cast("Any", Directory()))


def made_character(**fields: object) -> Character:
    return recorded_character(
        Path("rx399.yaml"),
        {
            "name": "Counter",
            "city": "virlton",
            "start": "West End",
            "background": "Counts.",
            "intention": "Count.",
            "count": {"things": ["trash bin", "bench", "fire hydrant"], "background": ["mailbox"]},
        }
        | fields,
    )


@contextmanager
def made_agent(
    folder: Path,
    character: Character | None = None,
    *,
    resume: bool = False,
    audience: Audience | None = None,
    city: str = "virlton",
) -> Iterator[Agent]:
    """An agent at the west end, in a new run or in one that goes on; its journal is closed after."""
    character, made = character or made_character(), made_city()
    start = start_record(character, city)
    steps: list[StepRecord] = []
    if resume:
        journal, records = Journal.resume(folder)
        steps = [record for record in records if isinstance(record, StepRecord)]
    else:
        journal = Journal.create(folder, start)
    nothing = cast("Any", None)
    with journal:
        mind = RuleMind()
        run = Run(journal, start, steps, city="testville", audience=audience, ledger=mind.ledger)
        senses = Senses(ExactDetector(), nothing, ())
        models, mover = cast("Models", _Matchers()), LinksMover(made.streetview)
        yield Agent(
            LoadedCharacter(Path("counter.yaml"), character),
            made,
            made.streetview.panorama("p0"),
            mind,
            senses,
            models,
            mover,
            run=run,
        )


CORNERS = [(-5.0, -9.0), (125.0, -9.0), (125.0, 9.0), (-5.0, 9.0)]


def cover(folder: Path, **fields: object) -> Path:
    """The run of an agent who counts in all of the street."""
    with made_agent(folder, made_character(**fields)) as agent:
        region = Region(tuple(FRAME.position(*corner) for corner in CORNERS))
        navigator = RegionNavigator(agent.city.streetview, region, file=folder / "region.jsonl")
        count_along(agent, navigator.walk, onward_by_hop)
    return folder


def start_record(character: Character, city: str = "virlton") -> StartRecord:
    return StartRecord(
        virl="0.1.0",
        agent="counter",
        city=city,
        mind="rules",
        seed=0,
        started="2026-05-04T11:30:00+00:00",
        routine="counting",
        character=character.model_dump(mode="json"),
    )


class _Matchers:
    def matcher(self, name: str) -> NoMatcher:
        return NoMatcher()


def _pixel(camera: Camera, heading: float, pitch: float) -> tuple[float, float]:
    """Where the ray at a heading and pitch meets the picture."""
    turn, up, tilt = radians(heading - camera.heading), radians(pitch), radians(camera.pitch)
    right, ahead, rise = sin(turn) * cos(up), cos(turn) * cos(up), sin(up)
    forward = ahead * cos(tilt) + rise * sin(tilt)
    upward = rise * cos(tilt) - ahead * sin(tilt)
    focal = camera.focal
    return camera.width / 2 + focal * right / forward, camera.height / 2 - focal * upward / forward


def east(number: int = 0) -> Pose:
    return Pose(f"p{number}", 90.0)

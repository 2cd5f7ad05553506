"""A run made up for tests: a short walk with drawn views, two crossings, two shops and a meal."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import PIL.Image
import PIL.ImageDraw
import PIL.ImageFont

from virl.geo.globe import LatLng, LocalFrame, bearing, destination, distance
from virl.journal.convert import exchange_record, place_record, pose_record, view_record
from virl.journal.journal import JOURNAL, Journal, total_cost, write_result
from virl.journal.records import EndRecord, PlaceRecord, Record, Result, StartRecord, StepRecord, ViewRecord
from virl.money.book import Exchange
from virl.platform.city.city import City
from virl.platform.city.places import Place
from virl.platform.city.streetview import Camera, Image, Pose, View
from virl.platform.perception.base import Detection

FRAME = LocalFrame(LatLng(-38.2, -126.4))
# Metres east and north: along one street, left at a crossing, right at the next.
PATH = [(x * 10.0, x * 1.2) for x in range(9)]
PATH += [(80.0 - k * 1.4, 9.6 + k * 10.0) for k in range(1, 8)]
PATH += [(70.2 + k * 9.8, 79.6 + k * 2.0) for k in range(1, 6)]
POSITIONS = [FRAME.position(x, y) for x, y in PATH]
CROSSINGS = {8, 15}
LOOKS = {3: "KAPPA SUSHI", 11: "BELLA NAPOLI", 20: "NOODLE BAR MEI"}
STREETS = [
    [(-60.0, -7.2), (180.0, 21.6)],
    [(84.0, -50.0), (80.0, 9.6), (70.2, 79.6), (60.0, 150.0)],
    [(-50.0, 55.0), (70.2, 79.6), (190.0, 104.0)],
    [(180.0, 21.6), (190.0, 104.0), (200.0, 150.0)],
    [(-60.0, -7.2), (-50.0, 55.0), (-45.0, 150.0)],
    [(60.0, 150.0), (200.0, 150.0)],
]


def start_record(name: str = "Hiro", mind: str = "rules") -> StartRecord:
    return StartRecord(
        virl="0.1.0",
        agent="hiro",
        city="testville",
        mind=mind,
        seed=1,
        started="2026-05-04T11:30:00+00:00",
        character={
            "name": name,
            "age": 22,
            "background": "A student who has just moved in and eats nothing spicy.",
            "intention": "Find a place for lunch, not spicy and not dear.",
        },
    )


def begun(
    folder: Path, agent: str, character: Mapping[str, Any], *, mind: str = "rules", city: str = "virlton"
) -> tuple[Journal, StartRecord, Sequence[Record]]:
    """Begin a run in a folder, or go on with the one that is there.

    Returns:
        The journal, its first record, and the records that are there already.
    """
    start = StartRecord(
        virl="0", agent=agent, city=city, mind=mind, seed=0, started="", character=dict(character)
    )
    if (folder / JOURNAL).exists():
        journal, done = Journal.resume(folder)
        return journal, start, done
    return Journal.create(folder, start), start, ()


def keep_made_run(
    folder: Path,
    *,
    steps: int = len(PATH),
    ended: bool = True,
    shop: str = "Noodle Bar Mei",
    mind: str = "rules",
    size: int = 640,
) -> Path:
    """Write the run into `folder`, up to a number of steps, views drawn `size` pixels square."""
    start = start_record(mind=mind)
    with Journal.create(folder, start) as journal:
        records = [start, *(_keep_step(journal, index, shop, mind, size) for index in range(steps))]
        if ended:
            result = _result(records, shop)
            journal.append(EndRecord(seq=journal.next_seq, result=result))
            write_result(folder, result)
    return folder


def made_city() -> City:
    """A city of which only the street map can be asked."""
    nothing = cast("Any", None)
    return City("testville", "Testville", FRAME.origin, nothing, nothing, nothing, street_map=_Streets())


def drawn_view(text: str, heading: float, size: int = 640) -> Image:
    """A street of plain houses with a signboard."""
    rng = np.random.default_rng(round(heading) + len(text))
    picture = PIL.Image.new("RGB", (size, size), (188, 212, 232))
    draw = PIL.ImageDraw.Draw(picture)
    unit = size / 640
    draw.rectangle((0, 420 * unit, size, size), fill=(104, 104, 108))
    for k in range(5):
        left = (k * 150 - 60) * unit
        colour = tuple(int(c) for c in rng.integers(120, 220, 3))
        draw.rectangle((left, (120 + 20 * (k % 3)) * unit, left + 140 * unit, 430 * unit), fill=colour)
        for row in range(3):
            for column in range(2):
                x, y = left + (20 + 60 * column) * unit, (180 + 75 * row) * unit
                draw.rectangle((x, y, x + 36 * unit, y + 46 * unit), fill=(70, 84, 100))
    draw.polygon(
        [(p[0] * unit, p[1] * unit) for p in ((300, 420), (340, 420), (640, 640), (0, 640))],
        fill=(88, 88, 92),
    )
    if text:
        draw.rectangle((180 * unit, 250 * unit, 470 * unit, 320 * unit), fill=(150, 30, 38))
        font = PIL.ImageFont.load_default(30 * unit)
        draw.text((325 * unit, 285 * unit), text, fill="white", font=font, anchor="mm")
    return np.asarray(picture)


class _Streets:
    def lines(self) -> Sequence[Sequence[LatLng]]:
        return [[FRAME.position(x, y) for x, y in line] for line in STREETS]

    def panorama_ids(self) -> Sequence[str]:
        return [f"p{index}" for index in range(len(PATH))]


def _keep_step(journal: Journal, index: int, shop: str, mind: str, size: int) -> StepRecord:
    last = index == len(PATH) - 1
    record = StepRecord(
        seq=journal.next_seq,
        step=index,
        pose=pose_record(Pose(f"p{index}", _heading(index)), POSITIONS[index]),
        distance_m=distance(POSITIONS[index - 1], POSITIONS[index]) if index else 0.0,
        views=_views(journal, index, size),
        asked=tuple(exchange_record(exchange) for exchange in _asked(index, shop, mind)),
        places=_places(index, shop),
        crossing=index in CROSSINGS,
        decided=_decided(index, shop),
        next_pano_id=None if last else f"p{index + 1}",
        seconds=0.8,
    )
    journal.append(record)
    return record


def _views(journal: Journal, index: int, size: int) -> tuple[ViewRecord, ...]:
    heading, text = _heading(index), LOOKS.get(index, "")
    views = []
    for turn, purpose, fov in _cameras(index):
        camera = Camera(heading + turn, 0 if purpose != "closer" else 4, fov, size, size)
        view = View(f"p{index}", camera, drawn_view(text if turn == 60 else "", camera.heading, size))
        box = tuple(edge * size / 640 for edge in (176, 244, 474, 326))
        found = [Detection("restaurant", 0.86, cast("Any", box), text)] if text and turn == 60 else []
        file = journal.keep_view(f"{index:04d}-{purpose}-{camera.heading:.0f}", view.pixels)
        caption = "A quiet road between low houses." if purpose == "road" else ""
        views.append(view_record(view, file, purpose=purpose, caption=caption, detections=found))
    return tuple(views)


def _cameras(index: int) -> list[tuple[float, Literal["look", "closer", "road"], float]]:
    cameras: list[tuple[float, Literal["look", "closer", "road"], float]]
    cameras = [(-60, "look", 60), (0, "look", 60), (60, "look", 60)]
    if index in LOOKS:
        cameras.append((60, "closer", 30))
    if index in CROSSINGS:
        cameras += [(turn, "road", 90) for turn in (-90, 5, 90)]
    return cameras


def _asked(index: int, shop: str, mind: str) -> list[Exchange]:
    paid = (
        {} if mind == "rules" else {"input_tokens": 700, "output_tokens": 60, "usd": 0.0031, "seconds": 1.2}
    )
    exchanges = []
    if index == 0:
        intention = {"intention": "Find a place for lunch, not spicy and not dear."}
        exchanges.append(Exchange("place_type", mind, intention, {"place_type": "restaurant"}))
    if index in CROSSINGS:
        roads = {"roads": ["A quiet road between low houses."] * 3, "intention": "lunch"}
        reply = {"index": 0, "reason": "Shop fronts and awnings can be seen down this road."}
        exchanges.append(Exchange("choose_road", mind, roads, reply, **cast("Any", paid)))
    for place in _places(index, shop):
        inputs = {"place": place.name, "reviews": ["Mild and kind to the purse.", "Quick at noon."]}
        exchanges.append(Exchange("summarize_place", mind, inputs, {"summary": place.summary}, cached=True))
        reply = {"action": place.decision, "reason": place.reason}
        exchanges.append(Exchange("enter_or_continue", mind, inputs, reply, **cast("Any", paid)))
    return exchanges


def _places(index: int, shop: str) -> tuple[PlaceRecord, ...]:
    if index == 11:
        place = Place("b1", "Bella Napoli", ("restaurant",), _beside(11), "4 Mill Lane", 3.9, 41, 3)
        summary = "Good pizza, say most; the bill surprises many."
        return (place_record(place, decision="continue", reason="It is dear.", summary=summary),)
    if index == len(PATH) - 1:
        types = ("japanese_restaurant", "restaurant")
        place = Place("m1", shop, types, _beside(index), "18 Harbor Street", 4.4, 128, 1)
        summary = "Clear broths, mild dishes and small prices; full at noon, but the queue is quick."
        reason = "Nothing on its menu is hot, and visitors call it cheap."
        return (place_record(place, decision="enter", reason=reason, summary=summary),)
    return ()


def _decided(index: int, shop: str) -> str:
    if index == len(PATH) - 1:
        return f"Enter {shop}: nothing on its menu is hot, and visitors call it cheap."
    if index in CROSSINGS:
        return "Take the road to the north: shop fronts and awnings can be seen down this road."
    return "Walk on along the road."


def _result(records: Sequence[StartRecord | StepRecord], shop: str) -> Result:
    steps = [record for record in records if isinstance(record, StepRecord)]
    place = _places(len(PATH) - 1, shop)[0] if len(steps) == len(PATH) else None
    return Result(
        agent="hiro",
        city="testville",
        status="entered" if place else "gave up",
        steps=steps[-1].step,
        distance_m=sum(step.distance_m for step in steps),
        place=place,
        reason=place.reason if place else "The limit of steps was reached.",
        cost=total_cost(records),
        versions={"virl": "0.1.0", "journal": "1"},
    )


def _beside(index: int) -> LatLng:
    """Where a shop stands to the right of a step."""
    return destination(POSITIONS[index], _heading(index) + 80, 13.0)


def _heading(index: int) -> float:
    here = max(index, 1)
    return bearing(POSITIONS[here - 1], POSITIONS[here])

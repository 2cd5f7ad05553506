"""Make one animated picture of a run: what the agent looks at, beside the map on which its path grows.

`python docs/animate_run.py RUN OUT.webp`: RUN is the folder of a run whose city can be opened here.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

import virl
from virl.errors import BadInput
from virl.geo.globe import LatLng, LocalFrame, signed_turn
from virl.journal.journal import read_journal
from virl.journal.records import EndRecord, PlaceRecord, StartRecord, StepRecord, ViewRecord
from virl.journal.walk_map import ground_of
from virl.pages.fonts import face_for, font
from virl.pages.map_picture import draw_picture
from virl.pages.maps import MapPath, Mark, map_figure
from virl.pages.paper import Extent, Paper, lay_out, on_paper
from virl.pages.theme import colours
from virl.platform.perception.boxes import Boxed

SIDE = 440  # pixels of the view, and of the map
STRIP = 46  # pixels of the line below them
MARGIN_M = 30.0
SHORT_MS, LONG_MS, LAST_MS = 450, 1300, 4000
QUALITY = 70


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture of the animation."""

    walked: Sequence[LatLng]
    view: ViewRecord
    weighed: Sequence[PlaceRecord]
    said: str
    lasts_ms: int


@dataclass(frozen=True, slots=True)
class BoxedText:
    """A label and its box, as `virl.draw_detections` draws them."""

    label: str
    box: tuple[float, float, float, float]


def main(run: Path, out: Path) -> None:
    """Write the animation of a finished run."""
    records = read_journal(run)
    start = next(record for record in records if isinstance(record, StartRecord))
    end = next((record for record in records if isinstance(record, EndRecord)), None)
    if end is None:
        raise BadInput(f"{run}: the run has not ended: finish it with --resume")
    frames = list(frames_of([record for record in records if isinstance(record, StepRecord)], end))
    city = virl.open_city(start.city)
    ground = draw_ground(city, frames)
    pictures = [draw(run, frame, ground, start.attribution) for frame in frames]
    pictures[0].save(
        out,
        save_all=True,
        append_images=pictures[1:],
        duration=[frame.lasts_ms for frame in frames],
        loop=0,
        quality=QUALITY,
        method=6,
    )


def frames_of(steps: Sequence[StepRecord], end: EndRecord) -> Iterator[Frame]:
    """Every step: the view ahead, then each in which something was found; the result at the end."""
    walked: list[LatLng] = []
    weighed: list[PlaceRecord] = []
    metres = 0.0
    view = None
    for step in steps:
        walked.append(LatLng(step.pose.lat, step.pose.lng))
        metres += step.distance_m
        if not step.views:
            continue
        heading = step.pose.heading
        ahead = min(step.views, key=lambda one: abs(signed_turn(one.heading, heading)))
        where = f"Step {step.step}, {metres:.0f} m"
        yield Frame(tuple(walked), ahead, tuple(weighed), where, SHORT_MS)
        view = ahead
        for view in (one for one in step.views if one.detections):
            read = ", ".join(f'"{one.text}"' for one in view.detections if one.text)
            look = "in a closer view, reads" if view.purpose == "closer" else "reads"
            said = f"{where}: {look} {read}" if read else where
            yield Frame(tuple(walked), view, tuple(weighed), said, LONG_MS)
        for place in step.places:
            weighed.append(place)
            verdict = "enters" if place.decision == "enter" else "passes by"
            said = f"{place.name}: {verdict}. {place.reason}"
            view = next((one for one in step.views if shows(one, place)), view)
            yield Frame(tuple(walked), view, tuple(weighed), said, LONG_MS)
    if view is None:
        raise BadInput("the run has no views: animate one that looks around, such as Hiro's")
    outcome = " ".join(
        [end.result.status.capitalize(), *(place.name for place in [end.result.place] if place)]
    )
    yield Frame(tuple(walked), view, tuple(weighed), f"{outcome}. {end.result.reason}", LAST_MS)


def shows(view: ViewRecord, place: PlaceRecord) -> bool:
    """Return whether a place's name was read in a view."""
    return any(one.text == place.name for one in view.detections)


def draw_ground(city: virl.City, frames: Sequence[Frame]) -> Paper:
    """Streets and houses around all that the frames show."""
    last = frames[-1]
    shown = [*last.walked, *(LatLng(place.lat, place.lng) for place in last.weighed)]
    frame = LocalFrame(last.walked[0])
    points = [on_paper(frame, *position) for position in shown]
    extent = Extent(aspect=1.0, margin_m=MARGIN_M, smallest_m=0.0, beyond=0.0)
    return lay_out(frame, points, ground_of(city), extent=extent, across=SIDE)


def draw(run: Path, frame: Frame, ground: Paper, attribution: str) -> Image.Image:
    """Draw the view, the map, and a line below."""
    sheet = Image.new("RGB", (2 * SIDE, SIDE + STRIP), colours()["card"])
    sheet.paste(boxed(run, frame.view), (0, 0))
    sheet.paste(draw_map(frame, ground, attribution), (SIDE, 0))
    pen = ImageDraw.Draw(sheet)
    write(pen, (12, SIDE + STRIP / 2), frame.said, 17, "lm", room=2 * SIDE - 24)
    return sheet


def boxed(run: Path, view: ViewRecord) -> Image.Image:
    """Draw a view with its detections."""
    with Image.open(run / view.file) as file:
        pixels = np.asarray(file.convert("RGB"))
    camera = virl.Camera(view.heading, view.pitch, view.fov, view.width, view.height)
    found: list[Boxed] = [BoxedText(one.text or one.label, one.box) for one in view.detections]
    drawn = virl.draw_detections(virl.View(view.pano_id, camera, pixels), found)
    return Image.fromarray(drawn.pixels).resize((SIDE, SIDE), Image.Resampling.LANCZOS)


def draw_map(frame: Frame, ground: Paper, attribution: str) -> Image.Image:
    """Draw the path up to here, the way the view looks, and the places weighed so far."""
    points = [ground.place(position) for position in frame.walked]
    here = Mark(*points[-1], "to", "", shape="small", heading=frame.view.heading)
    places = [
        Mark(
            *ground.place(LatLng(place.lat, place.lng)),
            place.decision,
            place.name,
            shape="diamond",
            label=place.name,
        )
        for place in frame.weighed
    ]
    figure = map_figure("", ground, [MapPath(points)], [here, *places], notice=attribution)
    return draw_picture(figure, SIDE)


def write(
    pen: ImageDraw.ImageDraw, at: tuple[float, float], text: str, size: int, anchor: str, *, room: float
) -> None:
    """Draw a line in the first face that has all of it, cut off where it is longer than its room."""
    face = font(face_for(text, 0), size)
    if pen.textlength(text, font=face) > room:
        while pen.textlength(f"{text}…", font=face) > room:
            text = text[:-1]
        text = f"{text.rstrip()}…"
    pen.text(at, text, colours()["ink"], face, anchor)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

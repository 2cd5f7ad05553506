"""The map of a walk as a PNG, for clients that show pictures and no pages."""

import io
from collections.abc import Iterator

import PIL.Image
import PIL.ImageDraw
import PIL.ImageFont

from virl.journal.convert import pose_record
from virl.journal.records import StepRecord
from virl.journal.report import streets_of
from virl.journal.walk_map import Sketch, sketch
from virl.pages.paper import Paper, Point
from virl.tools.body import Body

WIDTH = 900
"""Pixels."""
LETTERS = 15
"""Pixels of a line of text."""
GROUND, STREET, WALK, ENDS, PLACE, INK = "#f6f4ef", "#cfcabf", "#1f6feb", "#b42318", "#7a5af5", "#222222"


def draw_map(body: Body) -> bytes:
    """The streets around, the way walked so far, the places considered, and where the agent stands."""
    run = body.agent.run
    here = StepRecord(
        seq=0,
        step=len(run.steps),
        pose=pose_record(body.pose, body.panorama.position),
        distance_m=0.0,
        decided="",
    )
    steps = run.steps if run.steps and run.steps[-1].next_pano_id is None else [*run.steps, here]
    drawn = sketch(steps, streets_of(body.agent.city))
    picture = PIL.Image.new("RGB", (WIDTH, round(WIDTH * drawn.paper.height / drawn.paper.width)), GROUND)
    _draw(PIL.ImageDraw.Draw(picture), drawn, body.agent.city.notice)
    png = io.BytesIO()
    picture.save(png, "PNG", optimize=True)
    return png.getvalue()


def _draw(pen: PIL.ImageDraw.ImageDraw, drawn: Sketch, notice: str) -> None:
    paper, font = drawn.paper, PIL.ImageFont.load_default(LETTERS)
    for street in paper.streets:
        pen.line(list(_points(paper, street)), STREET, 5, joint="curve")
    pen.line(list(_points(paper, drawn.path)), WALK, 4, joint="curve")
    for mark in drawn.marks:
        _dot(pen, _pixel(paper, (mark.x, mark.y)), 3, WALK)
    for pin in drawn.pins:
        at = _pixel(paper, (pin.x, pin.y))
        _dot(pen, at, 5, PLACE)
        pen.text((at[0] + 8, at[1] - 8), pin.place.name[:40], INK, font)
    ends = [("Start", drawn.start), ("You", drawn.end)] if drawn.end != drawn.start else [("You", drawn.end)]
    for label, end in ends:
        at = _pixel(paper, end)
        _dot(pen, at, 8, ENDS)
        pen.text((at[0] + 11, at[1] - 8), label, INK, font, stroke_width=2, stroke_fill=GROUND)
    _scale(pen, paper, font)
    bottom = paper.height * WIDTH / paper.width
    pen.text((12, bottom - 22), notice.splitlines()[0][:110] if notice else "", INK, font)


def _scale(
    pen: PIL.ImageDraw.ImageDraw, paper: Paper, font: PIL.ImageFont.ImageFont | PIL.ImageFont.FreeTypeFont
) -> None:
    """A bar of a round length, and north."""
    length = paper.scale_m * WIDTH / paper.width
    pen.line([(12, 24), (12 + length, 24)], INK, 3)
    pen.text((12, 4), f"{paper.scale_m} m, north is up", INK, font)


def _dot(pen: PIL.ImageDraw.ImageDraw, at: Point, radius: float, colour: str) -> None:
    x, y = at
    pen.ellipse([x - radius, y - radius, x + radius, y + radius], colour)


def _points(paper: Paper, written: str) -> Iterator[Point]:
    for point in written.split():
        x, y = point.split(",")
        yield _pixel(paper, (float(x), float(y)))


def _pixel(paper: Paper, point: Point) -> Point:
    scale = WIDTH / paper.width
    return (point[0] - paper.left) * scale, (point[1] - paper.top) * scale

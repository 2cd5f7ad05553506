"""Tools that look: views, signs, things, and questions about what is seen."""

from collections.abc import Sequence
from math import ceil
from typing import Literal

import numpy as np
import PIL.Image
from pydantic import Field

from virl.errors import BadInput
from virl.journal.records import Purpose, ViewRecord
from virl.platform.perception.base import Detection
from virl.platform.perception.look import closer_camera
from virl.platform.perception.signs import group_lines
from virl.platform.streetview import Camera, Image, View
from virl.tools.base import (
    DIRECTION,
    Arguments,
    Direction,
    Sweep,
    ToolResult,
    counted,
    from_world,
    heading_of,
    in_words,
    short,
)
from virl.tools.body import Body

READER = "rapidocr"  # the reader that needs no download
AROUND_FOV = 90.0  # four views all around
SIGN_FOV = 60.0  # as Hiro's: letters are read further off than in a wider view
CLOSE_FOV = 60.0  # a narrower view is a closer look; chosen
PHOTO_FOV = 40.0  # degrees; nobody knows it: narrow enough to be no view of a street
PHOTO_SIDE = 1024  # pixels at most; as what Google is asked for
MOST_FINDS = 40


class Look(Arguments):
    """Look at the street from where you stand, all around or in one direction.

    You get the pictures, or what they show in words. To see something far off better, look in its direction
    with a small fov.
    """

    direction: Sweep = Field(
        "around", description=f"'around' for four views all around, or one direction: {DIRECTION}."
    )
    fov: float = Field(
        90.0, ge=20, le=120, description="Width of a view in degrees, 20 (closest) to 120; 90 is normal."
    )
    pitch: float = Field(
        0.0, ge=-40, le=60, description="Degrees above the horizon, -40 to 60; 0 is straight ahead."
    )


class LookCloser(Arguments):
    """Look closer in one direction: a narrow view, aimed at a thing where you name one.

    You get the picture, or what it shows in words. A thing that is named is first searched there with an
    object detector.
    """

    direction: Direction = Field(description=f"Where to look: {DIRECTION}.")
    label: str = Field(
        "",
        max_length=60,
        description="What to aim at, in a word or two, such as 'sign' or 'bench'; empty to look straight in "
        "the direction.",
    )
    fov: float = Field(
        30.0, ge=10, le=60, description="Width of the view in degrees where nothing is aimed at, 10 to 60."
    )
    pitch: float = Field(0.0, ge=-40, le=60, description="Degrees above the horizon, -40 to 60.")


class Photos(Arguments):
    """See the photos that a place is listed with: the pictures, or what they show in words.

    They may be of another day, or of another place.
    """

    place_id: str = Field(min_length=1, description="The id of the place, as the lists of places give it.")
    limit: int = Field(2, ge=1, le=5, description="How many at most, 1 to 5; each may cost something.")


class ReadSigns(Arguments):
    """Read the words on signs and shopfronts that can be seen from here, and where they are."""

    direction: Sweep = Field("around", description=f"'around', or one direction: {DIRECTION}.")


class Detect(Arguments):
    """Find things in the views from here with an object detector, and where they are.

    It knows only what it was made for: finding nothing is weak evidence that there is nothing.
    """

    labels: list[str] = Field(
        default_factory=list,
        max_length=20,
        description="What to find, each in a word or two such as 'bench', 'trash bin' or 'restaurant'; "
        "empty for whatever the detector knows.",
    )
    direction: Sweep = Field("around", description=f"'around', or one direction: {DIRECTION}.")


class AskAboutView(Arguments):
    """Ask a question about what can be seen in one direction; a model that describes pictures answers."""

    question: str = Field(min_length=1, max_length=500, description="The question, a full sentence.")
    direction: Direction = Field(description=f"Where to look: {DIRECTION}.")
    fov: float = Field(90.0, ge=20, le=120, description="Width of the view in degrees, 20 (closest) to 120.")


def look(body: Body, asked: Look) -> ToolResult:
    """Views, for eyes or in words."""
    if asked.direction == "around" and asked.fov < AROUND_FOV:
        raise BadInput(f"to look closer than a fov of {AROUND_FOV:.0f}, choose one direction")
    views = _views(body, asked.direction, asked.fov, asked.pitch)
    where = [in_words(view.camera.heading, body.standing.heading) for view in views]
    return _shown(body, views, where)


def _shown(
    body: Body, views: Sequence[View], where: Sequence[str], purpose: Purpose | None = None
) -> ToolResult:
    """Views, for eyes or in words; `where` says of each what it is."""
    if body.sees and (records := _kept(body, views, purpose=purpose)):
        return ToolResult(
            f"{counted(len(views), 'picture')}, in this order: {'; '.join(where)}.", records, shown=True
        )
    said = body.agent.senses.describer.describe(views, body.agent.character.intention)
    records = tuple(
        record
        for view, words in zip(views, said, strict=True)
        for record in _kept(body, [view], words, purpose)
    )
    return ToolResult(
        from_world([f"{at}: {short(words, 700)}" for at, words in zip(where, said, strict=True)]), records
    )


def look_closer(body: Body, asked: LookCloser) -> ToolResult:
    """One narrow view."""
    [view] = _views(body, asked.direction, SIGN_FOV if asked.label else asked.fov, asked.pitch)
    if asked.label:
        [found] = body.agent.senses.detector.detect([view], [asked.label])
        if not found:
            return ToolResult(
                f"No {asked.label} was found there. Look without a label, or elsewhere.", _kept(body, [view])
            )
        aimed = closer_camera(view.camera, max(found, key=lambda one: one.score).box)
        view = body.agent.city.streetview.view(view.pano_id, aimed)
    where = f"{in_words(view.camera.heading, body.standing.heading)}, {view.camera.fov:.0f} degrees wide"
    return _shown(body, [view], [where], "closer")


def photos(body: Body, asked: Photos) -> ToolResult:
    """What a place is listed with."""
    pictures = body.agent.city.places.photos(asked.place_id, asked.limit)
    if not pictures:
        return ToolResult("The place is listed without photos.")
    views = [_as_view(pixels) for pixels in pictures]
    where = [f"photo {number} of {asked.place_id}" for number in range(1, len(views) + 1)]
    return _shown(body, views, where, "photo")


def read_signs(body: Body, asked: ReadSigns) -> ToolResult:
    """What the reader finds, sign by sign."""
    views = _views(body, asked.direction, SIGN_FOV)
    reader = body.agent.models.reader(READER)
    found = []
    for view, lines in zip(views, reader.read([view.pixels for view in views]), strict=True):
        for sign in group_lines(lines):
            text = " / ".join(line.text for line in sign)
            if any(letter.isalpha() for letter in text):
                score = min(line.score for line in sign)
                box = (
                    min(line.box[0] for line in sign),
                    min(line.box[1] for line in sign),
                    max(line.box[2] for line in sign),
                    max(line.box[3] for line in sign),
                )
                found.append((view, Detection("sign", score, box, text)))
    lines_told = [f"{sign.text!r}: {_where(body, view, sign)}" for view, sign in found]
    return ToolResult(_finds(lines_told, "No sign can be read from here."), _kept_with(body, views, found))


def detect(body: Body, asked: Detect) -> ToolResult:
    """What the character's detector finds."""
    views = _views(body, asked.direction, SIGN_FOV)
    per_view = body.agent.senses.detector.detect(views, asked.labels)
    found = [(view, one) for view, those in zip(views, per_view, strict=True) for one in those]
    lines = [
        f"{one.label}{f' {one.text!r}' if one.text else ''}: {_where(body, view, one)}, "
        f"score {one.score:.2f}, fills {_share(view, one):.1%} of the view"
        for view, one in found
    ]
    return ToolResult(
        _finds(lines, "Nothing of the kind was found from here."), _kept_with(body, views, found)
    )


def ask_about_view(body: Body, asked: AskAboutView) -> ToolResult:
    """What the character's describer answers."""
    [view] = _views(body, asked.direction, asked.fov)
    [said] = body.agent.senses.describer.describe([view], asked.question)
    return ToolResult(from_world([short(said, 1500)]), _kept(body, [view], said))


def _as_view(photo: Image) -> View:
    """A photo as a view from nowhere, no larger than is of use."""
    shown = PIL.Image.fromarray(photo)
    shown.thumbnail((PHOTO_SIDE, PHOTO_SIDE))
    pixels = np.asarray(shown, np.uint8)
    return View("", Camera(0.0, 0.0, PHOTO_FOV, shown.width, shown.height), pixels)


def _share(view: View, found: Detection) -> float:
    """The share of a view that a box covers, [0, 1]."""
    left, top, right, bottom = found.box
    height, width = view.pixels.shape[:2]
    return float((right - left) * (bottom - top) / (width * height))


def _views(body: Body, direction: Sweep, fov: float, pitch: float = 0.0) -> list[View]:
    facing = body.standing.heading
    if direction == "around":
        headings = [facing + number * fov for number in range(ceil(360 / fov))]
    else:
        headings = [heading_of(direction, facing)]
    streetview = body.agent.city.streetview
    return [streetview.view(body.standing.pano_id, Camera(heading, pitch, fov)) for heading in headings]


def _kept(
    body: Body, views: Sequence[View], caption: str = "", purpose: Purpose | None = None
) -> tuple[ViewRecord, ...]:
    return tuple(
        record
        for view in views
        for record in body.agent.run.keep(view, purpose or _purpose(view), caption=short(caption, 300))
    )


def _kept_with(
    body: Body, views: Sequence[View], found: Sequence[tuple[View, Detection]]
) -> tuple[ViewRecord, ...]:
    return tuple(
        record
        for view in views
        for record in body.agent.run.keep(view, "look", [one for seen, one in found if seen is view])
    )


def _purpose(view: View) -> Literal["look", "closer"]:
    return "closer" if view.camera.fov < CLOSE_FOV else "look"


def _where(body: Body, view: View, found: Detection) -> str:
    left, top, right, bottom = found.box
    heading, _ = view.camera.direction((left + right) / 2, (top + bottom) / 2)
    return in_words(heading, body.standing.heading)


def _finds(lines: Sequence[str], nothing: str) -> str:
    return from_world(lines[:MOST_FINDS]) if lines else nothing

"""Detections drawn into the view that they were found in."""

from collections.abc import Iterable
from typing import Protocol

import numpy as np
import PIL.Image
import PIL.ImageDraw

from virl.pages.fonts import can_letter, face_for, font
from virl.pages.theme import colours
from virl.plain_text import plain_line
from virl.platform.city.streetview import Box, View
from virl.platform.perception.cameras import shared_area

# The looks, all chosen.
LINE_SHARE, TEXT_SHARE, LEAST_TEXT_PX = 1 / 250, 1 / 42, 11
"""Width of lines and height of text as shares of a picture's width, and least height of text in pixels."""
PAD_PX = 3
"""Pixels of background around the text of a label."""


class Boxed(Protocol):
    """An object with a label and a box in a view, such as a `Detection` or a `Visible`."""

    @property
    def label(self) -> str:
        """Label of the object."""
        ...

    @property
    def box(self) -> Box:
        """Box (left, top, right, bottom) of the object in pixels of the view."""
        ...


def draw_detections(view: View, found: Iterable[Boxed]) -> View:
    """Return a copy of a view with a box and a label drawn around each object found.

    A label that no shipped or installed font can draw, or that would cover an earlier one, is left out: the
    box is drawn alone.

    Examples:
        >>> view = town.look(town.center, width=64, height=64)
        >>> virl.draw_detections(view, town.truth.visible(view.pano_id, view.camera)).pixels.shape
        (64, 64, 3)
    """
    picture = PIL.Image.fromarray(view.pixels)
    pen = PIL.ImageDraw.Draw(picture)
    line = max(2, round(picture.width * LINE_SHARE))
    size = max(LEAST_TEXT_PX, round(picture.width * TEXT_SHARE))
    frame, ink = colours()["found"], colours()["on-found"]
    written: list[Box] = []
    for one in found:
        left, top, right, bottom = one.box
        pen.rectangle((left, top, max(left, right), max(top, bottom)), outline=frame, width=line)
        if (label := plain_line(one.label).strip()) and can_letter(label):
            face = font(face_for(label, 0), size)
            room = _label_room(
                picture.width, one.box, pen.textlength(label, font=face) + 2 * PAD_PX, size + 2 * PAD_PX
            )
            if not any(shared_area(room, other) for other in written):
                pen.rectangle(room, fill=frame)
                pen.text((room[0] + PAD_PX, (room[1] + room[3]) / 2), label, fill=ink, font=face, anchor="lm")
                written.append(room)
    return View(view.pano_id, view.camera, np.asarray(picture))


def _label_room(picture_width: int, box: Box, wide: float, high: float) -> Box:
    """Return the box for a label `wide` by `high` pixels: above an object's box, or in it at the top edge."""
    left = max(0.0, min(box[0], picture_width - wide))
    top = box[1] - high if box[1] >= high else box[1]
    return left, top, left + wide, top + high

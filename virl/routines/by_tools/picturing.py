"""The picture that a run by tools ends with: the view that its answer describes, or a photo of its place."""

import re
from contextlib import suppress

from virl.agent.agent import Agent
from virl.errors import BudgetExceeded, NotFound
from virl.geo.globe import LatLng
from virl.journal.film import PICTURE, is_same_look
from virl.journal.records import PlaceRecord, ViewRecord
from virl.platform.city.places import Place, each_photo
from virl.platform.city.streetview import Camera
from virl.routines.by_tools.recording import TOOL
from virl.tools.places import photo_view

SPOT_M = 6.0
"""Most metres from the position in an answer to its panorama. Chosen."""
NARROWEST_DEG, WIDEST_DEG = 10.0, 120.0  # of a view (as `look` takes them, and a little less)
_POSITION = re.compile(r"(?<![\d.])(-?\d++\.\d{3,}+),? ++(-?\d++\.\d{3,}+)")
_DEGREES = re.compile(r"(?<!\d)(\d++(?:\.\d++)?) ?(?:degree|\N{DEGREE SIGN})")


def view_in(answer: str) -> tuple[LatLng, Camera] | None:
    """Return (position, camera) of the view that an answer describes by one position, heading and width."""
    positions = set(_POSITION.findall(answer))
    degrees = [float(one) for one in _DEGREES.findall(answer)]
    if len(positions) != 1 or len(degrees) < 2 or not NARROWEST_DEG <= degrees[1] <= WIDEST_DEG:
        return None
    [(lat, lng)] = positions
    return LatLng(float(lat), float(lng)), Camera(degrees[0] % 360, 0.0, degrees[1])


def keep_picture(agent: Agent, answer: str, place: Place | PlaceRecord | None, *, is_view: bool) -> str:
    """Write the picture of an answer to the run, unless it has it; return its file, empty without one.

    Args:
        agent: who answers.
        answer: its words.
        place: that it names; a photo of it is taken where that is free and the run has seen nothing.
        is_view: whether a view was asked for, which is looked at once more if it was not.
    """
    if note := agent.run.find_note(PICTURE, "0"):
        return note.views[0].file
    seen = [view for note in agent.run.notes(TOOL) for view in note.views]
    if is_view and (described := view_in(answer)):
        return _keep_view(agent, *described, seen)
    if place is None or seen or agent.city.ledger or not agent.run.keeps_views:
        return ""
    with suppress(NotFound):  # a directory may know no more of what it listed
        photo = next(iter(each_photo(agent.city.places, place.id)), None)
        views = agent.run.keep(photo_view(photo), "photo") if photo is not None else ()
        return _write_down(agent, views, f"A photo of {place.name}.", place.name)
    return ""


def _keep_view(agent: Agent, position: LatLng, camera: Camera, seen: list[ViewRecord]) -> str:
    """Write the view from a position to the run, unless it is among those seen; return its file, or empty."""
    with suppress(BudgetExceeded):  # the answer stands without it
        panorama = agent.city.streetview.nearest(position, SPOT_M)
        if panorama is None:
            return ""
        for one in seen:
            if (one.pano_id, one.fov) == (panorama.id, camera.fov) and is_same_look(one, camera):
                return one.file
        views = agent.run.keep(agent.city.streetview.view(panorama.id, camera), "look")
        return _write_down(agent, views, "The view as the answer describes it.", "The picture")
    return ""


def _write_down(agent: Agent, views: tuple[ViewRecord, ...], text: str, title: str) -> str:
    """Write a note with the picture, if there is one; return its file, or empty."""
    if not views:
        return ""
    return agent.run.note(PICTURE, "0", text, title=title, views=views, asked=()).views[0].file

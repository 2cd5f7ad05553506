"""Views with the truth of what they show: written from a made town, read from a folder."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, zip_longest
from pathlib import Path
from random import Random
from typing import TypeVar

import PIL.Image
from pydantic import Field

from virl.errors import BadInput
from virl.files.json_reading import read_json
from virl.files.writing import replace_file, write_whole
from virl.geo.globe import LatLng, bearing, distance
from virl.platform.city.city import City, Visible
from virl.platform.city.place_types import types_20
from virl.platform.city.streetview import Box, Camera, View
from virl.platform.perception.images import decode
from virl.settings.model import Settings

FoundT = TypeVar("FoundT")

LABELS_FILE = "labels.json"
KINDS = ("bench", "fire hydrant", "mailbox", "traffic light", "trash bin")
"""Kinds of street furniture that are labelled; trees and lamps are left out, as they stand everywhere."""

FOV, PITCH, SIZE = 60.0, 5.0, 640  # chosen: one view of an agent's look around
NEAR_M = 18.0  # chosen: what is looked at stands no further from the panorama
CLEAR_SEEN = 0.5  # chosen: of a thing that counts as missed, half is seen
CLEAR_PX = 24.0  # chosen: and the longer side of its box has so many pixels


class LabelledThing(Settings):
    """A thing that a view truly shows: its labels, its box in pixels, and a sign's words."""

    labels: tuple[str, ...]
    """Labels that each name the thing: the types of a sign's place, or the kind of furniture."""
    box: Box
    text: str = ""
    """Words of a sign; empty for furniture."""
    clear: bool
    """True if it is large and visible enough that a model which does not find it has missed it."""


class LabelledView(Settings):
    """One labelled view: its picture, camera, and the things that it truly shows."""

    file: str
    pano_id: str
    heading: float
    pitch: float
    fov: float
    place_types: tuple[str, ...] = ()
    """Types of the place that the view is aimed at, of the 20 types of place localization; may be empty."""
    things: tuple[LabelledThing, ...]


class LabelledSet(Settings):
    """The contents of `labels.json`: a made town's labelled views, and the labels to ask for."""

    city: str
    """Name of the made town that the views are from."""
    labels: tuple[str, ...] = Field(min_length=1)
    """Labels that detectors are asked for."""
    views: tuple[LabelledView, ...] = Field(min_length=1)


def write_labelled(city: City, name: str, folder: Path, count: int, seed: int = 0) -> LabelledSet:
    """Write `count` labelled views of the made town `name` to `folder`: half of places, half of furniture.

    Args:
        city: a made town.
        name: what opens it again.
        folder: takes the pictures and `labels.json`.
        count: of views.
        seed: another one takes other places and things.

    Raises:
        BadInput: nobody knows the truth of the city, or it has too little to show.
        CannotWrite: the disk refuses.
    """
    if city.truth is None:
        raise BadInput(f"{city.title}: has no ground truth to label views with: use virlton")
    views: list[LabelledView] = []
    # In turn, so that any count has about as many of each; when one sort is used up, the other fills in.
    pairs = zip_longest(_place_views(city, Random(seed)), _furniture_views(city, Random(seed)))
    for view, types in islice(filter(None, chain.from_iterable(pairs)), count):
        file = f"view-{len(views):03d}.png"
        with replace_file(folder / file, "write the views again") as stream:
            PIL.Image.fromarray(view.pixels).save(stream, "PNG")
        things = tuple(
            LabelledThing(
                labels=_labels_of(one),
                box=one.box,
                text=one.label if one.kind == "sign" else "",
                clear=_is_clear(one),
            )
            for one in _visible_things(city, view)
            if _labels_of(one)
        )
        camera = view.camera
        views.append(
            LabelledView(
                file=file,
                pano_id=view.pano_id,
                heading=camera.heading,
                pitch=camera.pitch,
                fov=camera.fov,
                place_types=types,
                things=things,
            )
        )
    if not views:
        raise BadInput(f"{city.title}: no panorama is near a thing that can be labelled: use another town")
    written = LabelledSet(city=name, labels=(*types_20(), *KINDS), views=tuple(views))
    write_whole(folder / LABELS_FILE, written.model_dump_json(indent=1).encode(), "write the views again")
    return written


def read_labelled(folder: Path) -> LabelledSet:
    """Return the labelled views that `labels.json` in a folder describes; raise BadInput without any.

    Raises:
        BadInput: it has none, or they are damaged.
    """
    path = folder / LABELS_FILE
    try:
        return LabelledSet.model_validate(read_json(path.read_bytes()))
    except OSError as fault:
        raise BadInput(
            f"{folder} contains no {LABELS_FILE}: write views with `virl models --write-views {folder}`"
        ) from fault
    except ValueError as fault:
        raise BadInput(f"{path} is damaged ({str(fault).splitlines()[0]}): write the views again") from fault


def open_views(folder: Path, labelled: LabelledSet) -> list[View]:
    """Return the labelled views with their pictures, read from the folder.

    Raises:
        BadInput: a picture is missing or is none.
    """
    views = []
    for one in labelled.views:
        path = folder / one.file
        try:
            pixels = decode(path.read_bytes())
        except OSError as fault:
            raise BadInput(f"{path} is missing: write the views again") from fault
        height, width = pixels.shape[:2]
        views.append(View(one.pano_id, Camera(one.heading, one.pitch, one.fov, width, height), pixels))
    return views


def _place_views(city: City, random: Random) -> Iterator[tuple[View, tuple[str, ...]]]:
    """Yield (view aimed at a place, its types that localization uses), one place of each type in turn."""
    by_type = {kind: city.places.nearby(city.center, 2000.0, [kind]) for kind in types_20()}
    for place in _in_turn(by_type, random):
        view = _view_of(city, place.position)
        if view and any(one.place_id == place.id and _is_clear(one) for one in _visible_things(city, view)):
            yield view, tuple(name for name in place.types if name in types_20())


def _furniture_views(city: City, random: Random) -> Iterator[tuple[View, tuple[str, ...]]]:
    """Yield (view aimed at a piece of street furniture, no types), one piece of each kind in turn."""
    assert city.truth is not None  # noqa: S101 - checked by the caller
    by_kind = {kind: city.truth.things({kind}) for kind in KINDS}
    for thing in _in_turn(by_kind, random):
        view = _view_of(city, thing.position)
        if view and any(one.id == thing.id and _is_clear(one) for one in _visible_things(city, view)):
            yield view, ()


def _view_of(city: City, position: LatLng) -> View | None:
    """Return the view towards a position from the nearest panorama; `None` if none is within `NEAR_M`."""
    here = city.streetview.nearest(position)
    if here is None or distance(here.position, position) > NEAR_M:
        return None
    return city.streetview.view(here.id, Camera(bearing(here.position, position), PITCH, FOV, SIZE, SIZE))


def _in_turn(by_kind: Mapping[str, list[FoundT]], random: Random) -> Iterator[FoundT]:
    """Yield one item of each kind in turn, in random order within a kind, until all are yielded."""
    # By kind, or the towns' many restaurants would leave no view to a kind of which there are few.
    for found in by_kind.values():
        random.shuffle(found)
    for row in zip_longest(*by_kind.values()):
        yield from (one for one in row if one is not None)


def _visible_things(city: City, view: View) -> Sequence[Visible]:
    """Return the signs and furniture that are visible in a view, by the made town's own knowledge."""
    return city.truth.visible(view.pano_id, view.camera, kinds={"sign", *KINDS}) if city.truth else ()


def _labels_of(one: Visible) -> tuple[str, ...]:
    """Return the labels that fit a visible thing: its kind, or for a sign the types of its place."""
    if one.kind != "sign":
        return (one.kind,)
    return tuple(kind for kind in one.place_types if kind in types_20())


def _is_clear(one: Visible) -> bool:
    """Return whether a visible thing is large, unhidden and legible enough that a model should find it."""
    left, top, right, bottom = one.box
    legible = one.kind != "sign" or (bool(one.label) and not one.on_directory)
    return legible and one.visible_fraction >= CLEAR_SEEN and max(right - left, bottom - top) >= CLEAR_PX

"""Scenic spots: panoramas in and beside a park are swept, and their views rated (V-IRL, appendix B.9).

How much green, sky and water a view shows is measured by its colours; that is no judge of beauty.
"""

from contextlib import suppress
from math import radians, tan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from virl.agent.agent import Agent
from virl.errors import NoImagery, NoStreetView
from virl.extras import Late
from virl.geo.globe import LatLng, LocalFrame, distance
from virl.platform.city.places import Place
from virl.platform.city.streetview import Camera, Image, Panorama, View
from virl.routines.day.activity import ScenicSpot, Spot
from virl.routines.day.replies import SceneryRatings, ViewShares
from virl.routines.day.settings import DAY
from virl.routines.day.town import Town

cv2 = Late("cv2", extra="eyes")

# Hue in OpenCV's half degrees, saturation and value of 255 (chosen: leaves and grass; clear sky and water).
_GREEN_HUE, _GREEN_SATURATION, _GREEN_VALUE = (32, 85), 60, 40
_BLUE_HUE, _BLUE_SATURATION, _BLUE_VALUE = (90, 130), 50, 70
_CLOUD_SATURATION, _CLOUD_VALUE = 40, 190
_WATER_WIDTH = 0.5  # of the picture's width; chosen
_HORIZON = 0.5  # of the picture's height at pitch 0: blue above it is sky, below it water
TOPIC = "scenic"
REACH_M = 60.0  # to each side of a park's middle: the square that is swept; chosen
SPACING_M = 40.0  # between the positions relocated; chosen
RELOCATE_M = 30.0  # how far from such a position a panorama may lie; chosen
PARKS = 2  # parks that are swept where none is named, the nearest; chosen
PANORAMAS = 4  # in or beside each; chosen
HEADINGS, PITCH, FOV = (0.0, 90.0, 180.0, 270.0), 10.0, 90.0  # all around, a little above the horizon; chosen
BEST = 10.0  # of a rating: no further view can be better, so none is looked at
SIZE = 448  # pixels to each side; chosen


def find_scenic(agent: Agent, town: Town) -> ScenicSpot | None:
    """Return the best-rated view in and beside one or two parks; `None` if none is wanted or found."""
    day = DAY.of(agent.character)
    wanted = day.scenic if day else False
    if not wanted:
        return None
    noted: list[ScenicSpot] = []
    for park in _parks(town, agent.start.position, wanted if isinstance(wanted, str) else ""):
        for panorama in _panoramas(town, park.position):
            if noted and noted[-1].rating == BEST:
                break
            if note := _rate_panorama(agent, town, park, panorama):
                noted.append(note)
    best = max(noted, key=lambda one: one.rating, default=None)
    if best is None:
        return None
    return ScenicSpot(best.spot, best.rating, best.reason, sum(one.seen for one in noted))


def _parks(town: Town, here: LatLng, name: str) -> list[Place]:
    """Return the park called `name`, or for an empty name the nearest two; empty if there is none."""
    if name:
        park = town.find_named(name, here)
        return [park] if park else []
    return town.places_of_type("park", here, ())[:PARKS]


def _panoramas(town: Town, middle: LatLng) -> list[Panorama]:
    """Return up to four panoramas on a small square around a position, nearest first."""
    frame, found = LocalFrame(middle), dict[str, Panorama]()
    steps = int(REACH_M // SPACING_M)
    offsets = [step * SPACING_M for step in range(-steps, steps + 1)]
    for east in offsets:
        for north in offsets:
            panorama = town.city.streetview.nearest(frame.position(east, north), RELOCATE_M)
            if panorama is not None:
                found[panorama.id] = panorama
    return sorted(found.values(), key=lambda one: (distance(middle, one.position), one.id))[:PANORAMAS]


def _rate_panorama(agent: Agent, town: Town, park: Place, panorama: Panorama) -> ScenicSpot | None:
    """Return the best view from a panorama with its rating, kept in the journal; `None` without pictures."""
    noted = agent.run.find_note(TOPIC, panorama.id)
    if noted is None:
        views = _views_from(town, panorama)
        if not views:
            return None
        prompt = agent.prompts.load("day/scenic", SceneryRatings)
        images = {f"View {number}": view for number, view in enumerate(views)}
        ratings = agent.mind.ask(
            prompt, images=images, place=park.name, views=[_scenery_shares(view) for view in views]
        ).ratings
        best = max(range(len(views)), key=lambda index: ratings[index].rating)
        text = f"{ratings[best].rating:g} of 10. {ratings[best].reason}"
        noted = agent.run.note(
            TOPIC,
            panorama.id,
            text,
            title=park.name,
            data={
                "rating": ratings[best].rating,
                "reason": ratings[best].reason,
                "heading": views[best].camera.heading,
                "seen": len(views),
                "all": [[view.camera.heading, one.rating] for view, one in zip(views, ratings, strict=True)],
            },
            views=agent.run.keep(views[best], "look", caption=f"{park.name}: {text}"),
        )
    spot = Spot.of(park).model_copy(
        update={"lat": float(panorama.position.lat), "lng": float(panorama.position.lng)}
    )
    return ScenicSpot(
        spot, float(str(noted.data["rating"])), str(noted.data["reason"]), int(str(noted.data["seen"]))
    )


def _views_from(town: Town, panorama: Panorama) -> list[View]:
    """Return the views from a panorama in four directions, without those that have no picture."""
    views = []
    for heading in HEADINGS:
        with suppress(NoImagery, NoStreetView):
            views.append(town.city.streetview.view(panorama.id, Camera(heading, PITCH, FOV, SIZE, SIZE)))
    return views


def _scenery_shares(view: View) -> dict[str, float]:
    """Return the shares of `green`, `sky` and `water` in a view, each in [0, 1]."""
    camera = view.camera
    # A camera that looks up has the horizon below the middle of its picture.
    horizon = 0.5 + tan(radians(camera.pitch)) / (2 * tan(radians(camera.vertical_fov / 2)))
    return {name: round(share, 3) for name, share in scenery(view.pixels, horizon).model_dump().items()}


def scenery(picture: Image, horizon: float = _HORIZON) -> ViewShares:
    """Return a picture's shares of green, sky and water; `horizon` is the horizon's height, 0 top, 1 bottom.

    A pixel is green by its hue; sky is what is blue or cloud and reaches down from the upper edge; water is
    what is blue below the horizon and lies across half of the picture: a car or an awning does not.

    Args:
        picture: RGB.
        horizon: its height in the picture as a share from above; may lie outside [0, 1].
    """
    hue, saturation, value = np.moveaxis(cv2.cvtColor(picture, cv2.COLOR_RGB2HSV), 2, 0)
    green = _hue_between(hue, _GREEN_HUE) & (saturation >= _GREEN_SATURATION) & (value >= _GREEN_VALUE)
    blue = _hue_between(hue, _BLUE_HUE) & (saturation >= _BLUE_SATURATION) & (value >= _BLUE_VALUE)
    cloud = (saturation <= _CLOUD_SATURATION) & (value >= _CLOUD_VALUE)
    rows = np.arange(picture.shape[0])[:, None] < horizon * picture.shape[0]
    # Down each column, sky is only what no other pixel interrupts from the upper edge on.
    sky, water = np.logical_and.accumulate((blue | cloud) & rows, axis=0), _wide_parts(blue & ~rows)
    return ViewShares(green=float(np.mean(green)), sky=float(np.mean(sky)), water=float(np.mean(water)))


def _hue_between(hue: NDArray[Any], span: tuple[int, int]) -> NDArray[np.bool_]:
    """Return a mask of the pixels whose hue lies within `span`, both ends included."""
    return (hue >= span[0]) & (hue <= span[1])


def _wide_parts(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a mask of the connected areas in a mask that span at least half of the picture's width."""
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
    wide = [
        label for label in range(1, count) if stats[label, cv2.CC_STAT_WIDTH] >= _WATER_WIDTH * mask.shape[1]
    ]
    return np.isin(labels, wide)

"""Tools that look: views, signs, things, and questions about what is seen."""

from collections.abc import Sequence
from math import ceil
from typing import Annotated

from pydantic import Field

from virl.agent.tool import ToolData, tool
from virl.errors import BadInput
from virl.geo.globe import signed_turn
from virl.journal.records import Purpose, ViewRecord
from virl.pages.numbers import count_noun
from virl.platform.city.streetview import Camera, View
from virl.platform.perception.base import Amount, Detection, describe_scenes
from virl.platform.perception.cameras import closer_camera
from virl.platform.perception.kept_finds import read_views
from virl.platform.perception.signs import box_around, group_lines
from virl.tools.base import (
    DIRECTION,
    Bearing,
    Direction,
    Listing,
    Score,
    Share,
    Sweep,
    ToolResult,
    bearing_of,
    from_world,
    heading_of,
    short,
    tell_data,
)
from virl.tools.body import Body

READER = "rapidocr"  # the reader that needs no download
AROUND_FOV = 90.0  # four views all around
SIGN_FOV = 60.0  # as Hiro's: letters are read further off than in a wider view
CLOSE_FOV = 60.0  # a narrower view is a closer look; chosen
MOST_FINDS = 40  # signs or things in one result
LONGEST_WORDS = 700  # most characters of the describer's words on one view

ToLook = Annotated[Direction, Field(description=f"Where to look: {DIRECTION}.")]
ToSearch = Annotated[Sweep, Field(description=f"'around', or one direction: {DIRECTION}.")]


class RoadAhead(ToolData):
    """A way on, and what is seen far down it by the pixels alone."""

    direction: Bearing
    boards: int
    """Number of signboards of shops along the road, those too small to read included."""
    told: str
    """Boards, houses, vegetation and width of the road, in words."""

    def __str__(self) -> str:
        """Return the road's direction, and words on what is seen down it."""
        return f"Far down the way {self.direction}: {self.told}"


class LookedView(ToolData):
    """A view that was looked at, or a photo."""

    label: str
    """Name of the view in the text, such as `front (north, 2 degrees)`."""
    direction: Bearing | None = None
    """Direction of the view; `None` for a photo."""
    words: str = ""
    """The character's describer's words on the view; empty if the picture itself is shown."""
    signs: tuple[str, ...] = ()
    """Lettering of the signs that the describer read in the view; empty if it returns no data."""
    shopfronts: Amount | None = None
    """Number of shopfronts in the view, roughly; `None` if the describer does not judge it."""
    roads: tuple[RoadAhead, ...] = ()
    """Links that lead into the view, with what is seen far down them; empty where looking costs money."""

    def __str__(self) -> str:
        """Return the view's label, its words, and its roads."""
        return "; ".join([f"{self.label}: {self.words}", *map(str, self.roads)])


class Looked(Listing[LookedView]):
    """Views, as pictures or in words."""

    shown: bool = False
    """True if the pictures themselves are shown to the model."""

    def __str__(self) -> str:
        """Return the labels of pictures that are shown, else the views in words."""
        if not self.shown:
            return super().__str__()
        labels = "; ".join(view.label for view in self.items)
        roads = [f"{road}." for view in self.items for road in view.roads]
        return "\n".join([f"{count_noun(len(self.items), 'picture')}, in this order: {labels}.", *roads])


SURE = 0.5  # least score of a near thing that counts as certain; chosen
SURER = 0.75  # least score of a far thing that does; false ones in Helsinki had up to 0.74
NEAR_SHARE = 0.0015  # least share of the view of a near thing: a bin at 15 m; false ones filled up to 0.1 %


class Find(ToolData):
    """A thing that a detector found."""

    label: str
    text: str = ""
    """Text read on the thing; empty without any."""
    direction: Bearing
    score: Score = 1.0
    share: Share = 0.0
    """Share of the view's area that the thing's box covers, [0, 1]."""

    @property
    def is_sure(self) -> bool:
        """Return whether the detection is certain enough to be counted; far things need a higher score."""
        return self.score >= (SURE if self.share >= NEAR_SHARE else SURER)

    def __str__(self) -> str:
        """Return the thing's label, text, direction, score and share as text."""
        name = f"{self.label} {self.text!r}" if self.text else self.label
        return f"{name}: {self.direction}, score {self.score:.2f}, fills {self.share:.1%} of the view"


class SignRead(Find):
    """A sign that was read; its score and share are not told."""

    label: str = "sign"

    def __str__(self) -> str:
        """Return the sign's text and direction."""
        return f"{self.text!r}: {self.direction}"


class ViewAnswer(ToolData):
    """An answer about a view, in the words of the character's describer."""

    words: str

    def __str__(self) -> str:
        """Return the answer between marks for text from the world."""
        return from_world([self.words])


@tool("Look around", asks_model=True)
def look(
    body: Body,
    direction: Sweep = Field(
        "around", description=f"'around' for four views all around, or one direction: {DIRECTION}."
    ),
    fov: float = Field(
        90.0, ge=20, le=120, description="Width of a view in degrees, 20 (closest) to 120; 90 is normal."
    ),
    pitch: float = Field(
        0.0, ge=-40, le=60, description="Degrees above the horizon, -40 to 60; 0 is straight ahead."
    ),
) -> ToolResult[Looked]:
    """Look at the street from where you stand, all around or in one direction.

    You get the pictures, or what they show in words, and what is seen far down the ways on: boards of shops,
    houses, vegetation, the width of the road. To see something far off better, look in its direction
    with a small fov.
    """
    if direction == "around" and fov < AROUND_FOV:
        raise BadInput(f"to look closer than a fov of {AROUND_FOV:.0f}, choose one direction")
    views = _views(body, direction, fov, pitch)
    directions = [bearing_of(view.camera.heading, body.standing.heading) for view in views]
    labelled = [
        LookedView(label=str(one), direction=one, roads=_roads_in(body, view))
        for one, view in zip(directions, views, strict=True)
    ]
    return show(body, list(zip(labelled, views, strict=True)))


def show(
    body: Body, looked: Sequence[tuple[LookedView, View]], purpose: Purpose | None = None
) -> ToolResult[Looked]:
    """Return views for a model: as pictures if it gets pictures, else in the describer's words.

    Args:
        body: the body of the agent that looks.
        looked: each view with its label, direction and roads.
        purpose: the purpose in their records; `None` for "closer" or "look" by the field of view.
    """
    views = [view for _, view in looked]
    if body.sees and (records := _keep_views(body, views, purpose)):
        return tell_data(Looked(items=tuple(one for one, _ in looked), shown=True), records, shown=True)
    scenes = describe_scenes(body.agent.senses.describer, views, body.agent.character.intention)
    records = _keep_views(body, views, purpose, [scene.text for scene in scenes])
    described = [
        LookedView(
            label=one.label,
            direction=one.direction,
            words=short(scene.text, LONGEST_WORDS),
            signs=tuple(short(text, LONGEST_WORDS) for text in scene.signs),
            shopfronts=scene.shopfronts,
            roads=one.roads,
        )
        for (one, _), scene in zip(looked, scenes, strict=True)
    ]
    return tell_data(Looked.fit(described), records)


@tool("Look closer", asks_model=True)
def look_closer(
    body: Body,
    direction: ToLook,
    label: str = Field(
        "",
        max_length=60,
        description="What to aim at, in a word or two, such as 'sign' or 'bench'; empty to look straight in "
        "the direction.",
    ),
    fov: float = Field(
        30.0, ge=10, le=60, description="Width of the view in degrees where nothing is aimed at, 10 to 60."
    ),
    pitch: float = Field(0.0, ge=-40, le=60, description="Degrees above the horizon, -40 to 60."),
) -> ToolResult[Looked]:
    """Look closer in one direction: a narrow view, aimed at a thing where you name one.

    You get the picture, or what it shows in words. A thing that is named is first searched there with an
    object detector.
    """
    [view] = _views(body, direction, SIGN_FOV if label else fov, pitch)
    if label:
        [found] = body.agent.senses.detector.detect([view], [label])
        if not found:
            nothing = f"No {label} was found there. Look without a label, or elsewhere."
            return tell_data(Looked(nothing=nothing), _keep_views(body, [view]))
        aimed = closer_camera(view.camera, max(found, key=lambda one: one.score).box)
        view = body.agent.city.streetview.view(view.pano_id, aimed)
    at = bearing_of(view.camera.heading, body.standing.heading)
    shown = LookedView(label=f"{at}, {view.camera.fov:.0f} degrees wide", direction=at)
    return show(body, [(shown, view)], "closer")


@tool("Read signs")
def read_signs(body: Body, direction: ToSearch = "around") -> ToolResult[Listing[SignRead]]:
    """Read the words on signs and shopfronts that can be seen from here, and where they are."""
    views = _views(body, direction, SIGN_FOV)
    reader = body.agent.models.keeping_reader(READER)
    found = []
    for view, lines in zip(views, read_views(reader, views), strict=True):
        for sign in group_lines(lines):
            text = " / ".join(line.text for line in sign)
            if any(letter.isalpha() for letter in text):
                score = min(line.score for line in sign)
                found.append((view, Detection("sign", score, box_around(sign), text)))
    signs = [SignRead(text=sign.text, direction=_direction(body, view, sign)) for view, sign in found]
    data = Listing[SignRead].fit(signs[:MOST_FINDS], nothing="No sign can be read from here.")
    return tell_data(data, _keep_views(body, views, found=found))


@tool("Find things in views")
def detect(
    body: Body,
    labels: list[str] = Field(
        default_factory=list,
        max_length=20,
        description="What to find, each in a word or two such as 'bench', 'trash bin' or 'restaurant'; "
        "empty for whatever the detector knows.",
    ),
    direction: ToSearch = "around",
) -> ToolResult[Listing[Find]]:
    """Find things in the views from here with an object detector, and where they are.

    It knows only what it was made for: finding nothing is weak evidence that there is nothing.
    """
    views = _views(body, direction, SIGN_FOV)
    per_view = body.agent.senses.detector.detect(views, labels)
    found = [(view, one) for view, those in zip(views, per_view, strict=True) for one in those]
    finds = [
        Find(
            label=one.label,
            text=one.text,
            direction=_direction(body, view, one),
            score=one.score,
            share=_share(view, one),
        )
        for view, one in found
    ]
    data = Listing[Find].fit(finds[:MOST_FINDS], nothing="Nothing of the kind was found from here.")
    return tell_data(data, _keep_views(body, views, found=found))


@tool("Ask about a view", asks_model=True)
def ask_about_view(
    body: Body,
    question: Annotated[
        str, Field(min_length=1, max_length=500, description="The question, a full sentence.")
    ],
    direction: ToLook,
    fov: float = Field(90.0, ge=20, le=120, description="Width of the view in degrees, 20 (closest) to 120."),
) -> ToolResult[ViewAnswer]:
    """Ask a question about what can be seen in one direction; a model that describes pictures answers."""
    [view] = _views(body, direction, fov)
    [said] = body.agent.senses.describer.describe([view], question)
    return tell_data(ViewAnswer(words=short(said, 1500)), _keep_views(body, [view], captions=[said]))


def _roads_in(body: Body, view: View) -> tuple[RoadAhead, ...]:
    """Return the links that lead into a view with what is seen down them; empty where looking costs money."""
    if not body.eyes.looks_far:
        return ()
    camera, roads = view.camera, []
    for link in body.links:
        if -camera.fov / 2 <= signed_turn(camera.heading, link.heading) < camera.fov / 2:
            sight = body.eyes.look_far(body.panorama, link)
            at = bearing_of(link.heading, body.standing.heading)
            roads.append(RoadAhead(direction=at, boards=len(sight.fronts), told=str(sight)))
    return tuple(roads)


def _share(view: View, found: Detection) -> float:
    """Return the share of a view's area that a detection's box covers, [0, 1]."""
    left, top, right, bottom = found.box
    height, width = view.pixels.shape[:2]
    return float((right - left) * (bottom - top) / (width * height))


def _views(body: Body, direction: Sweep, fov: float, pitch: float = 0.0) -> list[View]:
    """Return the view in a direction, or views all around the agent, of `fov` degrees at `pitch` degrees."""
    facing = body.standing.heading
    if direction == "around":
        headings = [facing + number * fov for number in range(ceil(360 / fov))]
    else:
        headings = [heading_of(direction, facing)]
    streetview = body.agent.city.streetview
    return [streetview.view(body.standing.pano_id, Camera(heading, pitch, fov)) for heading in headings]


def _keep_views(
    body: Body,
    views: Sequence[View],
    purpose: Purpose | None = None,
    captions: Sequence[str] = (),
    found: Sequence[tuple[View, Detection]] = (),
) -> tuple[ViewRecord, ...]:
    """Write views as files of the run, with captions and the detections `found`, and return their records."""
    records: list[ViewRecord] = []
    for view, caption in zip(views, captions or [""] * len(views), strict=True):
        seen = [one for other, one in found if other is view]
        why = purpose or ("closer" if view.camera.fov < CLOSE_FOV else "look")
        records += body.keep(view, why, seen, short(caption, 300))
    return tuple(records)


def _direction(body: Body, view: View, found: Detection) -> Bearing:
    """Return the direction of the middle of a detection's box, seen from the agent."""
    left, top, right, bottom = found.box
    heading, _ = view.camera.direction((left + right) / 2, (top + bottom) / 2)
    return bearing_of(heading, body.standing.heading)

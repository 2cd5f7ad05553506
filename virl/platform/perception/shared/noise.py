"""What the simulated detector gets wrong: curves over the size of a thing in the picture, and drawn chance.

Every draw is a hash of the seed, the camera, the thing and what is drawn, so it depends on nothing else:
neither on what was drawn before nor on the views that are looked at together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import exp, log, sqrt
from statistics import NormalDist
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from virl.platform.city.place_types import place_table
from virl.platform.city.streetview import Box, Camera
from virl.platform.perception.base import plain_label
from virl.platform.perception.model_settings import DetectorSettings, Needs

CAMERA_STEP_DEG = 1.0  # chosen: cameras whose angles round to the same multiples of it err alike
JITTER_LIMIT = 2.5  # chosen: standard deviations after which an edge moves no farther

Share = Annotated[float, Field(ge=0, le=1)]

NO_TRUTH = (
    "the simulated detector needs the ground truth of a made city, and this city has none: choose another "
    "with --detector, such as grounding-dino, owlv2 or recorded (see `virl models`)"
)

_NORMAL = NormalDist()


class SimulatedSettings(DetectorSettings):
    """Settings of the detector; `platform/models/simulated.yaml` gives the reasons for the values.

    The size of a thing is the square root of the area of its box, in pixels.
    """

    kind: Literal["simulated"]
    knows: tuple[str, ...]
    """The kinds of things that it can find."""
    synonyms: dict[str, str] = Field(default_factory=dict)
    """Other words for them."""
    min_pixels: int = Field(ge=1)
    """A thing that shows fewer pixels is never noticed."""
    found: float = Field(gt=0, le=1)
    """Chance that a large thing in plain sight is found."""
    half_size: float = Field(gt=0)
    """Size at which that chance has fallen to a half of itself."""
    size_width: float = Field(gt=0)
    """The gentleness of that fall: width of the logistic over the logarithm of the size."""
    half_seen: float = Field(gt=0, lt=1)
    """Visible share at which the chance has fallen to a half of itself."""
    seen_width: float = Field(gt=0)
    """The gentleness of that fall: width of the logistic over the share."""
    hardness: float = Field(ge=0, le=1)
    """Correlation between looks at one thing: 0 makes each look anew, with 1 a second look brings nothing."""
    confusions: dict[str, dict[str, Share]] = Field(default_factory=dict)
    """The chances, for each look-alike, that a tiny one is taken for something else."""
    place_confusion: Share | None = None
    """Chance that the place behind a tiny sign is taken for one of another type among those asked for; `None`
    for a detector that knows no places."""
    confusion_half_size: float = Field(gt=0)
    """Size at which those chances have fallen to a half."""
    confusion_width: float = Field(gt=0)
    """The gentleness of their fall, as `size_width`."""
    score: tuple[Share, Share]
    """Mean score of a true detection: where the chance to find it is 0 and where it is 1."""
    false_score: tuple[Share, Share]
    """Mean score of a false one: where the look-alike is large and where it is tiny."""
    score_spread: float = Field(ge=0)
    """Standard deviation of a score."""
    box_jitter: float = Field(ge=0, le=0.15)
    """Standard deviation of the place of a box's edge, as a share of the box's width or height."""

    def needs(self) -> Needs:
        """Return the truth."""
        return Needs(truth=NO_TRUTH)

    def unknown(self, labels: Sequence[str]) -> list[str]:
        """Return those of some labels that are neither a thing that it knows nor a type of place."""
        known = {*self.knows, *self.synonyms}
        if self.place_confusion is not None:
            known |= {plain_label(one) for one in place_table().types}
        return [one for one in labels if plain_label(one) not in known]

    @model_validator(mode="after")
    def _names_what_it_knows(self) -> Self:
        named = {*self.synonyms.values(), *(kind for row in self.confusions.values() for kind in row)}
        if unknown := named - set(self.knows):
            raise ValueError(f"{min(unknown)!r} should be among what the detector knows")
        return self


def size_of(box: Box) -> float:
    """Return the square root of a box's area, in pixels."""
    return sqrt((box[2] - box[0]) * (box[3] - box[1]))


def chance_found(size: float, seen: float, settings: SimulatedSettings) -> float:
    """Return the chance that a thing is found; its complement is the chance that it is missed.

    Args:
        size: of its box, pixels, above 0.
        seen: visible share of it, (0, 1].
        settings: of the noise.
    """
    by_size = _rise(log(size / settings.half_size) / settings.size_width)
    by_sight = _rise((seen - settings.half_seen) / settings.seen_width)
    return settings.found * by_size * by_sight


def likeness(size: float, settings: SimulatedSettings) -> float:
    """Return how alike look-alikes are at a size, [0, 1]: the factor of their chances to be mistaken."""
    return 1 - _rise(log(size / settings.confusion_half_size) / settings.confusion_width)


@dataclass(frozen=True, slots=True)
class Draws:
    """Random draws for one thing in one view, the same each time."""

    seed: int
    look: str
    """Key of the panorama and the camera."""
    thing: str
    hardness: float

    def happens(self, what: str, chance: float) -> bool:
        """Return whether an event of a given chance happens, correlated between views of the thing."""
        return self.share(what) < chance

    def share(self, what: str) -> float:
        """Return a draw from [0, 1], as `normal` correlated between views of the thing."""
        return _NORMAL.cdf(self.normal(what))

    def normal(self, what: str) -> float:
        """Return a standard normal draw, with `hardness` as the correlation between views of the thing."""
        own, new = self._draw_chance(what, ""), self._draw_chance(what, self.look)
        return sqrt(self.hardness) * own + sqrt(1 - self.hardness) * new

    def _draw_chance(self, what: str, look: str) -> float:
        """Return a standard normal draw by seed, thing, event and view."""
        text = "\n".join((str(self.seed), self.thing, what, look))
        number = int.from_bytes(blake2b(text.encode(), digest_size=6).digest(), "big")
        return _NORMAL.inv_cdf((number + 0.5) / 2**48)

    def jitter(self, box: Box, camera: Camera, jitter: float) -> Box:
        """Return a box whose edges are off, each by itself; an edge that the picture cuts stays where it is.

        Args:
            box: pixels, inside the picture.
            camera: of the picture.
            jitter: standard deviation, as a share of the box's width or height.
        """
        sides = (box[2] - box[0], box[3] - box[1])
        ends = (float(camera.width), float(camera.height))
        edges = []
        for i, edge in enumerate(box):
            end = ends[i % 2]
            off = min(max(self._draw_chance(f"edge {i}", self.look), -JITTER_LIMIT), JITTER_LIMIT)
            moved = min(max(edge + off * jitter * sides[i % 2], 0.0), end)
            edges.append(edge if edge in {0.0, end} else moved)
        left, top, right, bottom = edges
        return left, top, right, bottom


def name_look(pano_id: str, camera: Camera) -> str:
    """Return a key of a view: its panorama, and its camera to the nearest degree."""
    heading, pitch, fov = (
        round(angle / CAMERA_STEP_DEG) for angle in (camera.heading, camera.pitch, camera.fov)
    )
    turn = round(360.0 / CAMERA_STEP_DEG)
    return f"{pano_id} {heading % turn} {pitch} {fov} {camera.width}x{camera.height}"


def _rise(x: float) -> float:
    """Return the logistic function."""
    return 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))

"""Descriptions of views by the signs and objects that detectors find."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from virl.platform.city.streetview import View
from virl.platform.perception.base import Amount, Detection, Detector, Role, SceneDescription
from virl.platform.perception.images import as_view
from virl.platform.perception.lexicons.sign_lexicon import Lexicon
from virl.platform.perception.models import Models
from virl.platform.perception.registry import Kind, ModelSettings, Needs
from virl.platform.perception.road_sight import colourful_share
from virl.platform.perception.signs import SIGN

NOTHING = "no signs that can be read"
"""Description of a view without signs."""
STREET_FOV = 45.0
"""Least field of view in degrees at which shopfronts are judged; chosen: less shows a few, not a street."""


class SignDescriberSettings(ModelSettings):
    """Settings of the describer, read from `platform/models/sign-describer.yaml`."""

    kind: Literal["sign-describer"]
    detector: str
    """Name of a detector in `platform/models`; its detections with words on them are named as signs."""
    objects: str | None = None
    """Name of a detector whose detections are counted; `None` looks for nothing but signs."""
    object_labels: tuple[str, ...] = ()
    """Labels that the detector of `objects` is asked for; empty for all that it knows."""
    lexicon: str
    """Name of a lexicon in `platform/models`, which tells which signs a question is about."""
    most: int = Field(ge=1)
    """Largest number of signs that are named in a description."""
    some_fronts: float = Field(ge=0, le=1)
    """Share of colourful pixels in the ground floors, [0, 1], from which a view has some shopfronts."""
    many_fronts: float = Field(ge=0, le=1)
    """Share of colourful pixels in the ground floors, [0, 1], from which a view has many shopfronts."""

    def needs(self) -> Needs:
        """Return the requirements: the detectors and the lexicon."""
        objects: tuple[tuple[Role, str], ...] = (("detector", self.objects),) if self.objects else ()
        return Needs(models=(("detector", self.detector), ("lexicon", self.lexicon), *objects))


def open_sign_describer(settings: SignDescriberSettings, models: Models) -> "SignDescriber":
    """Return the describer with its detectors and its lexicon."""
    objects = models.keeping_detector(settings.objects) if settings.objects else None
    return SignDescriber(
        models.keeping_detector(settings.detector), models.lexicon(settings.lexicon), settings, objects
    )


KIND = Kind("describer", SignDescriberSettings, open_sign_describer)


class SignDescriber:
    """A describer that names the signs in a view, and judges shopfronts by colours."""

    def __init__(
        self, detector: Detector, lexicon: Lexicon, settings: SignDescriberSettings,
        objects: Detector | None = None,
    ) -> None:  # fmt: skip
        """Use a detector of signs, a lexicon for questions, and `objects`, a detector of things to count."""
        self._detector = detector
        self._objects = objects
        self._lexicon = lexicon
        self._settings = settings

    def describe(self, views: Sequence[View], question: str = "") -> list[str]:
        """Return the description of each view as text, as `describe_scenes` gives it."""
        return [scene.text for scene in self.describe_scenes(views, question)]

    def describe_scenes(self, views: Sequence[View], question: str = "") -> list[SceneDescription]:
        """Return a description of the signs, shopfronts and other objects that each view shows.

        Signs of the place types that the question tells of come first. A text is a line such as `"2 signs:
        'Golden Noodle House' (restaurant), 'Ito & Co'; some shopfronts"`. Views too narrow to show a street
        are not judged for shopfronts.

        Raises:
            ModelUnavailable: the detector's model is missing.
        """
        views = [as_view(view) for view in views]
        wanted = self._lexicon.classify(question) if question else {}
        found = self._detector.detect(views, ())
        if self._objects:
            things = self._objects.detect(views, self._settings.object_labels)
            found = [[*signs, *others] for signs, others in zip(found, things, strict=True)]
        return [self._describe_one(view, things, wanted) for view, things in zip(views, found, strict=True)]

    def _describe_one(
        self, view: View, found: Sequence[Detection], wanted: dict[str, float]
    ) -> SceneDescription:
        """Return a view's description; signs whose labels score more in `wanted` come first."""
        signs = sorted(
            (thing for thing in found if thing.text), key=lambda sign: -wanted.get(sign.label, 0.0)
        )
        things = Counter(thing.label.replace("_", " ") for thing in found if not thing.text)
        parts = [_list_signs(signs, self._settings.most)] if signs else [] if things else [NOTHING]
        parts += [_count(number, thing) for thing, number in sorted(things.items())]
        fronts: Amount | None = None
        if view.camera.fov >= STREET_FOV:
            share, settings = colourful_share(view), self._settings
            some: Amount = "some" if share >= settings.some_fronts else "no"
            fronts = "many" if share >= settings.many_fronts else some
            parts.append(f"{fronts} shopfronts")
        named = tuple(sign.text for sign in signs[: self._settings.most])
        return SceneDescription("; ".join(parts), named, fronts)


def _list_signs(signs: Sequence[Detection], most: int) -> str:
    """Return a text with the number of signs, and the words and place types of the first `most`."""
    named = ", ".join(
        f"'{sign.text}'" + ("" if sign.label == SIGN else f" ({sign.label.replace('_', ' ')})")
        for sign in signs[:most]
    )
    return f"{_count(len(signs), 'sign')}: {named}" + (", ..." if len(signs) > most else "")


def _count(number: int, thing: str) -> str:
    """Return a number with a noun, in the plural unless it is 1."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"

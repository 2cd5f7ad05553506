"""Who walks: what landmarks are recognised with, and which hints are given."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from virl.bench.model_roles import is_model
from virl.bench.resources import Resources
from virl.datasets.collect.dataset import RouteRow
from virl.errors import BadInput, ModelUnavailable, UnknownName
from virl.geo import LatLng
from virl.mind.base import Mind
from virl.platform.city import City
from virl.platform.movement.base import is_steered
from virl.platform.movement.instruction.human import HUMAN
from virl.platform.movement.instruction.tourist.asking import ChoiceSpotter, ReadingMindSpotter
from virl.platform.movement.instruction.tourist.crossings import CrossingHints, HonestHints, PaperHints
from virl.platform.movement.instruction.tourist.eight_views import DescriberSpotter, RecognizerSpotter
from virl.platform.movement.instruction.tourist.oracle import MapSpotter, TruthSpotter
from virl.platform.movement.instruction.tourist.signs import OcrSpotter, SignReader
from virl.platform.movement.instruction.tourist.spotting import LandmarkSighting, LandmarkSpotter
from virl.platform.perception.models import model_names
from virl.platform.streetview import Pose

Mode = Literal["honest", "paper"]

ORACLE, TRUTH, OCR, READ_AND_ASKED, CHOICE = "oracle", "truth", "ocr", "ocr+mind", "choice:"
READER = "rapidocr"


@dataclass(frozen=True, slots=True)
class Walker:
    """A recogniser of landmarks and a mode: `ocr`, or `ocr@paper`."""

    spotter: str
    mode: Mode


class NoSpotter:
    """Looks for no landmarks: whoever walks sees for themselves."""

    name = HUMAN

    def spot(
        self,
        pose: Pose,  # noqa: ARG002 - of the protocol
        names: Sequence[str],  # noqa: ARG002 - of the protocol
        *,
        thorough: bool,  # noqa: ARG002 - of the protocol
    ) -> list[LandmarkSighting]:
        """Nothing."""
        return []


def parse_walker(model: str) -> Walker:
    """A walker by its name.

    Raises:
        BadInput: there is no such mode.
    """
    spotter, at, mode = model.partition("@")
    if at and mode != "paper":
        raise BadInput(f"model {model!r}: append @paper for the paper's mode, or nothing for the honest mode")
    return Walker(spotter, "paper" if at else "honest")


def check_walker(walker: Walker, city: City, mind: Mind, resources: Resources) -> None:
    """Open what a walker needs, so that what is missing is told before the first walk.

    Raises:
        UnknownName: there is no such recogniser of landmarks.
        ModelUnavailable: it cannot be loaded, or needs a city whose truth is known.
    """
    _spotter(walker.spotter, city, {}, mind, resources)


def spotter_of(
    walker: Walker, city: City, route: RouteRow, mind: Mind, resources: Resources
) -> LandmarkSpotter:
    """What the walker sees landmarks with on a route."""
    landmarks = {
        key.landmark: LatLng(*key.landmark_position) for key in route.key_points if key.landmark_position
    }
    known = landmarks | {route.place_name: route.destination}
    return _spotter(walker.spotter, city, known, mind, resources)


def hints_of(walker: Walker, route: RouteRow) -> CrossingHints:
    """What tells the walker of crossings."""
    if walker.mode == "honest":
        return HonestHints()
    return PaperHints([key.position for key in route.key_points if key.kind == "turn"])


def _spotter(
    name: str, city: City, landmarks: dict[str, LatLng], mind: Mind, resources: Resources
) -> LandmarkSpotter:
    if name == ORACLE:
        return MapSpotter(city.streetview, landmarks)
    if name == TRUTH:
        if city.truth is None:
            raise ModelUnavailable(
                f"{TRUTH}: needs the ground truth of a made city, and {city.title} has none"
            )
        return TruthSpotter(city.truth)
    if name == HUMAN:
        if not is_steered():
            raise BadInput(f"model {HUMAN!r} is a person who plays: see docs/how-to/watch.md")
        return NoSpotter()
    if name == OCR:
        return OcrSpotter(SignReader(city.streetview, resources.reader(READER)))
    if name == READ_AND_ASKED:
        return ReadingMindSpotter(city.streetview, resources.reader(READER), mind)
    return _of_a_model(name, city, resources)


def _of_a_model(name: str, city: City, resources: Resources) -> LandmarkSpotter:
    if is_model("reader", name):
        return OcrSpotter(SignReader(city.streetview, resources.reader(name)))
    if is_model("recognizer", name):
        return RecognizerSpotter(city.streetview, resources.recognizer(name))
    if is_model("describer", name):
        return DescriberSpotter(city.streetview, resources.describer(name), name)
    plain = name.removeprefix(CHOICE)
    if plain != name and is_model("describer", plain):
        return ChoiceSpotter(city.streetview, resources.describer(plain), name)
    known = [ORACLE, TRUTH, OCR, READ_AND_ASKED, HUMAN]
    known += [each for role in ("reader", "recognizer", "describer") for each in model_names(role)]
    raise UnknownName("recogniser of landmarks", name, known)

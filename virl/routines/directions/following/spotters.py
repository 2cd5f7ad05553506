"""Spotters by name."""

from virl.errors import UnknownName
from virl.platform.movement.instruction.tourist.eight_views import DescriberSpotter, RecognizerSpotter
from virl.platform.movement.instruction.tourist.signs import OcrSpotter, SignReader
from virl.platform.movement.instruction.tourist.spotting import LandmarkSpotter
from virl.platform.perception.base import Role
from virl.platform.perception.models import Models, model_names
from virl.platform.streetview import StreetView
from virl.routines.directions.following.settings import FollowSettings


def open_spotter(streetview: StreetView, models: Models, settings: FollowSettings) -> LandmarkSpotter:
    """What a tourist looks for landmarks with; spotters that know the truth are not among them.

    Raises:
        UnknownName: there is no such spotter.
        BadInput: a model's file does not hold what it should.
    """
    name = settings.spotter
    role = find_spotter(name)
    if role == "reader":
        return OcrSpotter(SignReader(streetview, models.reader(settings.reader)))
    if role == "recognizer":
        return RecognizerSpotter(streetview, models.recognizer(name))
    return DescriberSpotter(streetview, models.describer(name), name)


def find_spotter(name: str) -> Role:
    """The role of the model that a spotter looks with.

    Raises:
        UnknownName: there is no such spotter.
    """
    if name == "ocr":
        return "reader"
    recognizers, describers = model_names("recognizer"), model_names("describer")
    if name in recognizers:
        return "recognizer"
    if name in describers:
        return "describer"
    raise UnknownName("spotter", name, ["ocr", *recognizers, *describers])

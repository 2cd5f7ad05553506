"""Spotters by name."""

from virl.errors import UnknownName
from virl.platform.movement.instruction.tourist.eight_views import DescriberSpotter, RecognizerSpotter
from virl.platform.movement.instruction.tourist.signs import OcrSpotter, SignReader
from virl.platform.movement.instruction.tourist.spotting import LandmarkSpotter
from virl.platform.perception.models import Models, model_names
from virl.platform.streetview import StreetView
from virl.routines.directions.following.settings import FollowSettings


def open_spotter(streetview: StreetView, models: Models, settings: FollowSettings) -> LandmarkSpotter:
    """What a tourist looks for landmarks with; spotters that know the truth are not among them.

    Raises:
        UnknownName: there is no such spotter.
        BadInput: a model's file does not hold what it should.
    """
    if settings.spotter == "ocr":
        return OcrSpotter(SignReader(streetview, models.reader(settings.reader)))
    name = settings.spotter
    if name in (recognizers := model_names("recognizer")):
        return RecognizerSpotter(streetview, models.recognizer(name))
    if name in (describers := model_names("describer")):
        return DescriberSpotter(streetview, models.describer(name), name)
    raise UnknownName("spotter", name, ["ocr", *recognizers, *describers])

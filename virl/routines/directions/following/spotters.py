"""Spotters by name."""

from virl.errors import UnknownName
from virl.mind.base import Mind
from virl.mind.prompt import Prompts
from virl.platform.city.city import City
from virl.platform.navigators.tourist.signs import OcrSpotter, SignReader
from virl.platform.navigators.tourist.spotters import (
    ChoiceSpotter,
    DescriberSpotter,
    ReadingMindSpotter,
    RecognizerSpotter,
)
from virl.platform.navigators.tourist.spotting import LandmarkSpotter
from virl.platform.perception.base import Role
from virl.platform.perception.models import Models, model_names

CHOICE = "choice:"
"""Before the name of a describer: it is asked which landmark a view shows, with options (V-IRL's LLaVA)."""
READ_AND_ASKED = "ocr+mind"
"""Words are read, and the mind says which landmarks they tell of (V-IRL's PP-OCR with GPT-3.5)."""


def open_spotter(
    name: str, reader: str, city: City, models: Models, mind: Mind, prompts: Prompts
) -> LandmarkSpotter:
    """Open what a tourist looks for landmarks with; spotters that know the truth are not among them.

    Args:
        name: of the spotter, see `FollowSettings.spotter`.
        reader: name of the model that reads signs, for those that read.
        city: gives the views.
        models: opens the spotter's models.
        mind: tells which landmarks words mean, for `ocr+mind`.
        prompts: where its prompts are looked for.

    Raises:
        UnknownName: there is no such spotter.
        BadInput: a model's file does not hold what it should.
    """
    role, streetview = find_spotter(name), city.streetview
    if name == READ_AND_ASKED:
        return ReadingMindSpotter(streetview, models.reader(reader), mind, prompts)
    if role == "reader":
        return OcrSpotter(SignReader(streetview, models.keeping_reader(reader), city.capabilities.cheap_view))
    if role == "recognizer":
        return RecognizerSpotter(streetview, models.recognizer(name))
    plain = name.removeprefix(CHOICE)
    if plain != name:
        return ChoiceSpotter(streetview, models.describer(plain), name, prompts)
    return DescriberSpotter(streetview, models.describer(name), name)


def find_spotter(name: str) -> Role:
    """Find the role of the model that a spotter looks with.

    Raises:
        UnknownName: there is no such spotter.
    """
    if name in {"ocr", READ_AND_ASKED}:
        return "reader"
    recognizers, describers = model_names("recognizer"), model_names("describer")
    if name in recognizers:
        return "recognizer"
    if name.removeprefix(CHOICE) in describers:
        return "describer"
    raise UnknownName("spotter", name, ["ocr", READ_AND_ASKED, *recognizers, *describers])

"""Putting senses together from the model files in `platform/models`; no weights are loaded here."""

from virl.platform.perception.base import Senses
from virl.platform.perception.detectors.sign_detector import SignDetectorSettings
from virl.platform.perception.models import ModelOptions, Models, read_model

_LEXICON = "sign-lexicon"
"""Name of the lexicon whose place types an agent knows, if its detector names no other."""


def open_senses(
    detector: str = "sign-detector",
    describer: str = "sign-describer",
    *,
    options: ModelOptions | None = None,
    models: Models | None = None,
) -> Senses:
    """Open the perception models that an agent carries.

    Args:
        detector: name of a detector in `platform/models`, or a path to a model file.
        describer: name of a describer, or a path; shares its parts with the detector.
        options: device, downloads, and what the simulated detector sees.
        models: opened models to share parts with; `options` do not count then.

    Raises:
        UnknownName: there is no such model.
        BadInput: a model's file does not hold what it should.
        ModelUnavailable: a plug-in that gives a model cannot be imported.
    """
    models = models or Models(options)
    settings = read_model("detector", detector)
    lexicon = settings.lexicon if isinstance(settings, SignDetectorSettings) else _LEXICON
    return Senses(
        models.keeping_detector(detector), models.describer(describer), models.lexicon(lexicon).place_types
    )

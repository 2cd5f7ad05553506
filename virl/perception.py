"""Models that see: detectors, readers, recognizers, matchers and describers, and uses of what they find."""

from virl.files.pictures import PictureLike, rgb
from virl.platform.perception.active import look_around, look_closer
from virl.platform.perception.base import (
    Describer,
    Detector,
    LookScores,
    Match,
    Matcher,
    Reader,
    Recognizer,
    Senses,
    TextLine,
)
from virl.platform.perception.cameras import sweep_cameras
from virl.platform.perception.embeddings import ViewEmbedder, open_store
from virl.platform.perception.images import as_view, crop
from virl.platform.perception.matching import match_place
from virl.platform.perception.memory import VisualMemory, memory_settings, write_csv, write_geojson
from virl.platform.perception.models import ModelOptions, Models, model_names, read_model
from virl.platform.perception.senses import open_senses
from virl.routines.counting.rounds import Counter

__all__ = [
    "Counter",
    "Describer",
    "Detector",
    "LookScores",
    "Match",
    "Matcher",
    "ModelOptions",
    "Models",
    "PictureLike",
    "Reader",
    "Recognizer",
    "Senses",
    "TextLine",
    "ViewEmbedder",
    "VisualMemory",
    "as_view",
    "crop",
    "look_around",
    "look_closer",
    "match_place",
    "memory_settings",
    "model_names",
    "open_senses",
    "open_store",
    "read_model",
    "rgb",
    "sweep_cameras",
    "write_csv",
    "write_geojson",
]

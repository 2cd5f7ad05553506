"""LightGlue through the `transformers` library, on SuperPoint or DISK keypoints (extra `vision`)."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from PIL import Image as Picture
from pydantic import Field

from virl.errors import ModelUnavailable
from virl.extras import module, require
from virl.files.json_reading import read_json_file
from virl.platform.city.streetview import Image
from virl.platform.perception.base import Match
from virl.platform.perception.images import pixels_of
from virl.platform.perception.models import ModelOptions, Models
from virl.platform.perception.registry import Kind, MatcherSettings, Needs
from virl.platform.perception.weights import (
    EXTRA,
    PACKAGES,
    Pretrained,
    batches,
    check_model_type,
    checkpoint,
    guard_memory,
    load_once,
    load_pretrained,
)

MODEL_TYPE = "lightglue"
"""Value of `model_type` in the `config.json` of a checkpoint."""
_DISK = "virl.platform.perception.disk_keypoints"
"""Name of the module with the DISK keypoint network."""
_NEVER = 1.0
"""Confidence that is not exceeded, so that the network stops no pair early."""


class LightGlueSettings(MatcherSettings):
    """Settings of the matcher; `platform/models/lightglue.yaml` gives the reasons for the values."""

    kind: Literal["lightglue"]
    weights: str
    """Folder with the weights, or a hub id."""
    keypoints: Literal["superpoint", "disk"]
    """Detector of keypoints that the checkpoint uses; DISK also needs the package kornia."""
    min_score: float = Field(ge=0, le=1)
    """Least confidence of a match, [0, 1]."""
    batch: int = Field(ge=1)
    """Number of pairs that are matched at once."""

    def needs(self) -> Needs:
        """Return the requirements: the packages of the extra, and the weights."""
        packages = (*PACKAGES, "kornia") if self.keypoints == "disk" else PACKAGES
        return Needs(packages, EXTRA, weights=(self.weights,))


def open_lightglue(settings: LightGlueSettings, models: Models) -> "LightGlueMatcher":
    """Return the matcher, whose weights are loaded on first use."""
    return LightGlueMatcher(load_once(lambda: _load(settings, models.options)), settings)


KIND = Kind("matcher", LightGlueSettings, open_lightglue)


class LightGlueMatcher:
    """A matcher of pictures by LightGlue. Safe to share between threads, which then take turns."""

    def __init__(self, load: Callable[[], Pretrained], settings: LightGlueSettings) -> None:
        """Use a model that `load` gives, called when it is needed, with the settings of its file."""
        self._load = load
        self._settings = settings

    def match(self, pairs: Sequence[tuple[Image, Image]]) -> list[Match]:
        """Return the points that the two pictures of each pair have in common, in whole pixels.

        Raises:
            ModelUnavailable: the packages or the weights are missing, or the GPU's memory is too small.
            BadInput: a picture is none.
        """
        pictures = [(pixels_of(first), pixels_of(second)) for first, second in pairs]
        found: list[Match] = []
        for batch in batches(pictures, self._settings.batch):
            loaded, torch = self._load(), module("torch", extra=EXTRA)
            shown = [[Picture.fromarray(image) for image in pair] for pair in batch]
            with loaded.turn, guard_memory(self._settings.kind, len(batch)), torch.inference_mode():
                inputs = loaded.processor(shown, return_tensors="pt").to(loaded.device)
                sizes = [[image.shape[:2] for image in pair] for pair in batch]
                results = loaded.processor.post_process_keypoint_matching(
                    loaded.model(**inputs), sizes, threshold=self._settings.min_score
                )
            for result in results:
                points = (result[name].cpu().numpy() for name in ("keypoints0", "keypoints1"))
                found.append(Match(*(one.astype(np.float32) for one in points)))
        return found


def _load(settings: LightGlueSettings, options: ModelOptions) -> Pretrained:
    """Return the model; raise `ModelUnavailable` if its checkpoint has other keypoints than the settings."""
    require(EXTRA, *settings.needs().packages)
    path = checkpoint(settings.weights, options)
    check_model_type(path, (MODEL_TYPE,))
    detector = read_json_file(Path(path) / "config.json").get("keypoint_detector_config")
    found = detector.get("model_type", "superpoint") if isinstance(detector, dict) else "superpoint"
    if found != settings.keypoints:
        raise ModelUnavailable(
            f"{path} finds keypoints with {found}, not {settings.keypoints}: correct the model file"
        )
    if settings.keypoints == "disk":
        module(_DISK, extra=EXTRA).register()
    loaded = load_pretrained(path, options, auto="AutoModelForKeypointMatching", model_types=(MODEL_TYPE,))
    # transformers 5.23 fails on batches of which some pairs stop early, and where both are off (below 0)
    loaded.model.depth_confidence = loaded.model.width_confidence = _NEVER
    return loaded

"""OWL-ViT and OWLv2 through the `transformers` library (extra `vision`): one class runs both generations."""

from collections.abc import Sequence
from typing import Literal

from PIL import Image as Picture
from pydantic import Field, field_validator

from virl.errors import BadInput
from virl.extras import module
from virl.platform.city.streetview import Image, View
from virl.platform.perception.base import Detection
from virl.platform.perception.detections import SettingsDetector, check_prompt, to_detections, words_of
from virl.platform.perception.images import pixels_of, same_size_batches
from virl.platform.perception.models import DetectorSettings, Models, Needs
from virl.platform.perception.registry import Kind
from virl.platform.perception.weights import EXTRA, PACKAGES, Once, Pretrained, guard_memory, load_pretrained


class OwlSettings(DetectorSettings):
    """Settings of the detector; `platform/models/owlv2.yaml` gives the reasons for the values."""

    kind: Literal["owlv2", "owlvit"]
    """Kind of the detector, also the model type of the checkpoint."""
    weights: str
    """Folder with the weights, or a hub id."""
    prompt: str
    """Prompt of the model for a label; `{label}` stands for the label."""
    min_score: float = Field(ge=0, le=1)
    """Least score of a detection, [0, 1]."""
    max_overlap: float | None = Field(ge=0, le=1)
    """Largest intersection over union of two detections of a label; `None` keeps all."""
    batch: int = Field(ge=1)
    """Number of views that go through the network at once."""

    _check_prompt = field_validator("prompt")(check_prompt)

    def needs(self) -> Needs:
        """Return the requirements: the packages of the extra, and the weights."""
        return Needs(PACKAGES, EXTRA, weights=(self.weights,))


def open_owl(settings: OwlSettings, models: Models) -> "Owl":
    """Return the detector, whose weights are loaded on first use."""

    def load() -> Pretrained:
        """Return the model with its processor, loaded once in a process."""
        auto = "AutoModelForZeroShotObjectDetection"
        return load_pretrained(settings.weights, models.options, auto=auto, model_types=(settings.kind,))

    return Owl(Once(load), settings)


class Owl(SettingsDetector[OwlSettings]):
    """A detector of objects by labels in any words. Safe to share between threads, which take turns."""

    def __init__(self, loaded: Once[Pretrained], settings: OwlSettings) -> None:
        """Use a model that is loaded when first needed, with the settings of its file."""
        self._loaded = loaded
        self._settings = settings

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        """Return the objects with one of `labels` in each view, best first.

        Raises:
            BadInput: there are no labels, one is empty or too long, or a picture is none.
            ModelUnavailable: the packages or the weights are missing, or the GPU's memory is too small.
        """
        words = words_of(labels, self._settings.kind)
        pictures = [pixels_of(view) for view in views]
        if not pictures:
            return []
        loaded = self._loaded.get()
        prompts = [self._settings.prompt.replace("{label}", word) for word in words]
        longest = loaded.model.config.text_config.max_position_embeddings
        for prompt in prompts:
            count = len(loaded.processor.tokenizer(prompt)["input_ids"])
            if count > longest:
                raise BadInput(
                    f"{prompt!r} has {count} tokens, and the model accepts {longest}: use a shorter label"
                )
        found: list[list[Detection]] = [[] for _ in pictures]
        for indices in same_size_batches(pictures, self._settings.batch):
            batch = [pictures[i] for i in indices]
            seen = self._look(loaded, batch, prompts, list(words.values()))
            for i, detections in zip(indices, seen, strict=True):
                found[i] = detections
        return found

    def _look(
        self, loaded: Pretrained, batch: list[Image], prompts: list[str], asked: list[str]
    ) -> list[list[Detection]]:
        """Return the detections in each picture of a batch by a prompt for each label in `asked`."""
        torch = module("torch", extra=EXTRA)
        pictures = [Picture.fromarray(image) for image in batch]
        with loaded.turn, guard_memory(self._settings.kind, len(batch)), torch.inference_mode():
            inputs = loaded.processor(images=pictures, text=[prompts] * len(batch), return_tensors="pt")
            outputs = loaded.model(**inputs.to(loaded.device))
            results = loaded.processor.post_process_grounded_object_detection(
                outputs,
                threshold=0.0,
                target_sizes=torch.tensor([image.shape[:2] for image in batch], device=loaded.device),
                text_labels=[asked] * len(batch),
            )
        return [
            to_detections(
                result["boxes"].cpu().numpy(),
                result["scores"].cpu().numpy(),
                result["text_labels"],
                image,
                min_score=self._settings.min_score,
                max_overlap=self._settings.max_overlap,
            )
            for image, result in zip(batch, results, strict=True)
        ]


KIND = Kind("detector", OwlSettings, open_owl)

"""CLIP, SigLIP and SigLIP 2 through Transformers (extra `vision`)."""

from collections.abc import Sequence
from typing import Any, Literal

from virl.platform.city.streetview import Image
from virl.platform.perception.contrastive import (
    ContrastiveRecognizer,
    ContrastiveSettings,
    Encoders,
    identity,
    kept_under,
    torch_encoders,
)
from virl.platform.perception.models import Models
from virl.platform.perception.registry import Kind, Needs
from virl.platform.perception.weights import EXTRA, PACKAGES, Pretrained, load_pretrained

MODEL_TYPES = ("clip", "siglip", "siglip2")
"""Model types in the `config.json` of a checkpoint that are accepted."""


class HuggingFaceClipSettings(ContrastiveSettings):
    """Settings of a CLIP or SigLIP model of Transformers."""

    kind: Literal["huggingface-clip"]
    weights: str
    """Folder with the weights, or a hub id."""

    def needs(self) -> Needs:
        """Return the requirements: the packages and the weights."""
        return Needs(PACKAGES, EXTRA, weights=(self.weights,))


def open_huggingface_clip(settings: HuggingFaceClipSettings, models: Models) -> ContrastiveRecognizer:
    """Return a recognizer through Transformers, whose weights are loaded on first use."""

    def load() -> Encoders:
        """Return the encoders of the model, whose weights are loaded once in a process."""
        loaded = load_pretrained(
            settings.weights,
            models.options,
            auto="AutoModel",
            model_types=MODEL_TYPES,
            precision=settings.precision,
        )
        return _encoders(settings.weights, loaded)

    return ContrastiveRecognizer(
        lambda: kept_under(identity(settings.weights), settings, models.options), load, settings
    )


KIND = Kind("recognizer", HuggingFaceClipSettings, open_huggingface_clip)


def _encoders(name: str, loaded: Pretrained) -> Encoders:
    """Return the encoders of pictures and texts of a loaded model; `name` is for messages."""
    model, device = loaded.model, loaded.device
    prepare, tokenize = loaded.processor.image_processor, loaded.processor.tokenizer
    longest = model.config.text_config.max_position_embeddings

    def image_rows(images: Sequence[Image]) -> Any:
        """Return an embedding for each of n pictures, as a torch tensor (n, d)."""
        inputs = prepare(images=list(images), return_tensors="pt").to(device, model.dtype)
        return model.get_image_features(**inputs).pooler_output

    def text_rows(texts: Sequence[str]) -> Any:
        """Return an embedding for each of n texts, as a torch tensor (n, d)."""
        # all were trained on lower case, and without a mask of the padding; not all tokenizers know
        small, sizes = [text.lower() for text in texts], {"padding": "max_length", "max_length": longest}
        inputs = tokenize(small, **sizes, truncation=True, return_tensors="pt")
        return model.get_text_features(input_ids=inputs["input_ids"].to(device)).pooler_output

    return torch_encoders(name, model, loaded.turn, image_rows, text_rows)

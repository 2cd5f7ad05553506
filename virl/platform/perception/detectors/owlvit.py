"""OWL-ViT and OWLv2 through the `transformers` library (extra `vision`): one class runs both generations."""

from collections.abc import Sequence
from typing import Annotated, Literal

from PIL import Image as Picture

from virl.errors import BadInput
from virl.extras import module
from virl.platform.city.streetview import Image
from virl.platform.perception.detections import FindBoxes, LabelledBoxes, WordDetector, WordDetectorSettings
from virl.platform.perception.models import Models
from virl.platform.perception.registry import Kind, require_placeholder
from virl.platform.perception.weights import EXTRA, Pretrained, load_once, load_pretrained


class OwlSettings(WordDetectorSettings):
    """Settings of the detector; `platform/models/owlv2.yaml` gives the reasons for the values."""

    kind: Literal["owlv2", "owlvit"]
    """Kind of the detector, also the model type of the checkpoint."""
    prompt: Annotated[str, require_placeholder("{label}", ", where the label goes")]
    """Prompt of the model for a label; `{label}` stands for the label."""


def open_owl(settings: OwlSettings, models: Models) -> WordDetector:
    """Return the detector, whose weights are loaded on first use."""

    @load_once
    def load() -> Pretrained:
        """Return the model with its processor, loaded once in a process."""
        auto = "AutoModelForZeroShotObjectDetection"
        return load_pretrained(settings.weights, models.options, auto=auto, model_types=(settings.kind,))

    def prepare(words: Sequence[str]) -> FindBoxes:
        """Return a function that looks for labels given as plain words."""
        loaded = load()
        prompts = [settings.prompt.replace("{label}", word) for word in words]
        longest = loaded.model.config.text_config.max_position_embeddings
        for prompt in prompts:
            count = len(loaded.processor.tokenizer(prompt)["input_ids"])
            if count > longest:
                raise BadInput(
                    f"{prompt!r} has {count} tokens, and the model accepts {longest}: use a shorter label"
                )
        return lambda batch: _find(loaded, batch, prompts)

    return WordDetector(prepare, settings)


def _find(loaded: Pretrained, batch: Sequence[Image], prompts: list[str]) -> list[LabelledBoxes]:
    """Return the boxes in each picture of one size, with scores and indices of prompts."""
    torch = module("torch", extra=EXTRA)
    pictures = [Picture.fromarray(image) for image in batch]
    with loaded.turn, torch.inference_mode():
        inputs = loaded.processor(images=pictures, text=[prompts] * len(batch), return_tensors="pt")
        results = loaded.processor.post_process_grounded_object_detection(
            loaded.model(**inputs.to(loaded.device)),
            threshold=0.0,
            target_sizes=torch.tensor([image.shape[:2] for image in batch], device=loaded.device),
        )
    return [
        (result["boxes"].cpu().numpy(), result["scores"].cpu().numpy(), result["labels"].tolist())
        for result in results
    ]


KIND = Kind("detector", OwlSettings, open_owl)

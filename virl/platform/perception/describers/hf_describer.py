"""Descriptions of views by a multimodal model on this machine, through `transformers` (extra `vision`)."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from PIL import Image as Picture
from pydantic import Field

from virl.errors import ModelUnavailable
from virl.extras import module, require
from virl.files.json_reading import read_json
from virl.platform.city.streetview import Image, View
from virl.platform.perception.images import pixels_of, same_size_batches
from virl.platform.perception.models import ModelOptions, Models
from virl.platform.perception.registry import Kind, ModelSettings, Needs, require_placeholder
from virl.platform.perception.weights import (
    EXTRA,
    PACKAGES,
    Precision,
    Pretrained,
    checkpoint,
    guard_memory,
    load_once,
    load_pretrained,
)

QUESTION = "{question}"
"""Placeholder in a prompt that stands for the question."""
PROMPT = "{prompt}"
"""Placeholder in a template that stands for the prompt."""
HALF: Precision = "bfloat16"
"""Number format of weights that `auto` means on a GPU: float16 overflows in T5 (BLIP-2, InstructBLIP)."""


class HfDescriberSettings(ModelSettings):
    """Settings of the describer; `platform/models/hf-describer.yaml` gives the reasons for the values."""

    kind: Literal["hf-describer"]
    weights: str
    """Folder or hub id of a model that turns pictures and text into text."""
    template: Annotated[str, require_placeholder(PROMPT, or_empty=True)] = ""
    """Input text around the prompt, `{prompt}`; empty to use the chat template that the model brings."""
    precision: Precision = "auto"
    """Number format of the weights; `auto` is bfloat16 on a GPU and float32 elsewhere."""
    prompt: str = Field(min_length=1)
    """Prompt where no question is asked."""
    question_prompt: Annotated[str, require_placeholder(QUESTION)]
    """Prompt where a question is asked; `{question}` stands for the question."""
    max_new_tokens: int = Field(ge=1)
    """Largest number of tokens of an answer, which is cut off there."""
    batch: int = Field(ge=1)
    """Number of views that are described at once."""

    def needs(self) -> Needs:
        """Return the requirements: the packages of the extra, and the weights."""
        return Needs(PACKAGES, EXTRA, weights=(self.weights,))


def open_hf_describer(settings: HfDescriberSettings, models: Models) -> "HfDescriber":
    """Return the describer, whose weights are loaded on first use."""
    return HfDescriber(load_once(lambda: _load(settings, models.options)), settings)


KIND = Kind("describer", HfDescriberSettings, open_hf_describer)


class HfDescriber:
    """A describer by a model on this machine. Safe to share between threads, which then take turns."""

    def __init__(self, load: Callable[[], Pretrained], settings: HfDescriberSettings) -> None:
        """Use a model that `load` gives, called when it is needed, with the settings of its file."""
        self._load = load
        self._settings = settings

    def describe(self, views: Sequence[View], question: str = "") -> list[str]:
        """Return the model's answer for each view, on one line.

        Raises:
            ModelUnavailable: the packages or the weights are missing, or the GPU's memory is too small.
            BadInput: a picture is none.
        """
        settings = self._settings
        text = settings.question_prompt.replace(QUESTION, question) if question.strip() else settings.prompt
        pictures = [pixels_of(view) for view in views]
        said: list[str] = [""] * len(pictures)
        for indices in same_size_batches(pictures, settings.batch):
            loaded, torch = self._load(), module("torch", extra=EXTRA)
            with loaded.turn, guard_memory(settings.kind, len(indices)), torch.inference_mode():
                inputs = self._inputs(loaded, [pictures[i] for i in indices], text)
                inputs = inputs.to(loaded.device, loaded.model.dtype)
                tokens = loaded.model.generate(
                    **inputs, do_sample=False, num_beams=1, max_new_tokens=settings.max_new_tokens
                )
                if not loaded.model.config.get_text_config().is_encoder_decoder:
                    tokens = tokens[:, inputs["input_ids"].shape[1] :]
                answers = loaded.processor.batch_decode(tokens, skip_special_tokens=True)
            for i, answer in zip(indices, answers, strict=True):
                said[i] = " ".join(answer.split())
        return said

    def _inputs(self, loaded: Pretrained, batch: list[Image], text: str) -> Any:
        """Return the inputs for a prompt about each picture, by the settings' template, else the model's."""
        if self._settings.template:
            asked = self._settings.template.replace(PROMPT, text)
            pictures = [Picture.fromarray(image) for image in batch]
            return loaded.processor(
                images=pictures, text=[asked] * len(batch), padding=True, return_tensors="pt"
            )
        shown = [{"type": "image", "image": Picture.fromarray(image)} for image in batch]
        asked_text = {"type": "text", "text": text}
        return loaded.processor.apply_chat_template(
            [[{"role": "user", "content": [image, asked_text]}] for image in shown],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            processor_kwargs={"padding": True},
        )


def _model_type(path: str) -> str:
    """Return a checkpoint's model type; raise `ModelUnavailable` unless it describes pictures in text."""
    known = module("transformers.models.auto.modeling_auto", extra=EXTRA)
    try:
        found = read_json((Path(path) / "config.json").read_bytes())["model_type"]
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise ModelUnavailable(
            f"{path} is not a transformers checkpoint (config.json cannot be read): download its files again"
        ) from fault
    if str(found) not in known.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES:
        raise ModelUnavailable(
            f"{path} contains a model of type {found}: use one that turns pictures and text into text"
        )
    return str(found)


def _load(settings: HfDescriberSettings, options: ModelOptions) -> Pretrained:
    """Return the model with its processor; raise `ModelUnavailable` if there is no template to ask it by."""
    require(EXTRA, *PACKAGES)
    path = checkpoint(settings.weights, options)
    loaded = load_pretrained(
        path,
        options,
        auto="AutoModelForImageTextToText",
        model_types=(_model_type(path),),
        precision=settings.precision,
        half=HALF,
    )
    if not settings.template and not getattr(loaded.processor, "chat_template", None):
        raise ModelUnavailable(
            f"{path} has no chat template: say in the model's file how it is asked, such as "
            f"`template: 'Question: {PROMPT} Answer:'`"
        )
    loaded.processor.tokenizer.padding_side = "left"  # answers follow the last token of each row
    return loaded

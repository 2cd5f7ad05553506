"""The common part of recognizers with an encoder of pictures and one of texts, and names of checkpoints."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from virl.errors import BadInput
from virl.extras import missing_packages, module
from virl.platform.city.streetview import Image
from virl.platform.perception.base import Embeddings
from virl.platform.perception.embeddings import TextMemory
from virl.platform.perception.images import pixels_of
from virl.platform.perception.models import ModelOptions
from virl.platform.perception.registry import ModelSettings, require_placeholder
from virl.platform.perception.weights import (
    EXTRA,
    Precision,
    batches,
    device_of,
    guard_memory,
    load_once,
    precision_on,
)

LABEL = "{label}"
"""Placeholder in a caption that stands for a label."""


class ContrastiveSettings(ModelSettings):
    """The settings of recognizers with an encoder of pictures and one of texts."""

    caption: Annotated[str, require_placeholder(LABEL)] = LABEL
    """Text that a picture is compared with for each label: by default the label alone, as in V-IRL.

    CLIP's paper, section 3.1.4, has `a photo of a {label}`.
    """
    precision: Precision = "auto"
    """Number format of the weights; `auto` is float16 on a GPU and float32 elsewhere."""
    batch: int = Field(default=32, ge=1)
    """Number of pictures, or texts, that go through the model at once."""


HALF: Precision = "float16"
"""Number format that `auto` means on a GPU."""


def kept_under(name: str, settings: ContrastiveSettings, options: ModelOptions) -> str:
    """Return the name under which a model's embeddings are stored: with the format added if not float32.

    Args:
        name: of the model.
        settings: tell the precision.
        options: tell the device.
    """
    device = "cpu" if options.device == "cpu" or missing_packages(("torch",)) else device_of(options)
    precision = precision_on(device, settings.precision, HALF)
    return name if precision == "float32" else f"{name}/{precision}"


@dataclass(frozen=True, slots=True)
class Encoders:
    """The two encoders of a model; their vectors are not of unit length."""

    images: Callable[[Sequence[Image]], NDArray[np.float32]]
    """Function from n pictures to their vectors, shape (n, d)."""
    texts: Callable[[Sequence[str]], NDArray[np.float32]]
    """Function from n texts to their vectors, shape (n, d)."""
    scale: float
    """Factor on the cosines of pictures and texts."""
    bias: float | None
    """Term added to the scaled cosines; `None` for a model trained with a softmax."""


def torch_encoders(
    name: str,
    model: Any,
    turn: Lock,
    image_rows: Callable[[Sequence[Image]], Any],
    text_rows: Callable[[Sequence[str]], Any],
) -> Encoders:
    """Return encoders that run a torch model's two functions, one at a time, with its scale and bias.

    Args:
        name: of the model, for messages.
        model: the model.
        turn: lock held while the model computes: two batches at once would need twice the memory.
        image_rows: function from n pictures to a tensor of their embeddings, (n, d).
        text_rows: function from n texts to a tensor of their embeddings, (n, d).
    """

    def encode(to_rows: Callable[[Any], Any], items: Sequence[Any]) -> NDArray[np.float32]:
        """Return the embeddings of pictures or texts by one of the two functions, without gradients."""
        with turn, guard_memory(name, len(items)), module("torch", extra=EXTRA).inference_mode():
            rows: NDArray[np.float32] = to_rows(items).float().cpu().numpy()
        return rows

    bias = getattr(model, "logit_bias", None)
    return Encoders(
        images=partial(encode, image_rows),
        texts=partial(encode, text_rows),
        scale=model.logit_scale.exp().item(),
        bias=None if bias is None else bias.item(),
    )


class ContrastiveRecognizer:
    """A recognizer by an encoder of pictures and one of texts, loaded on first use."""

    def __init__(
        self, identify: Callable[[], str], load: Callable[[], Encoders], settings: ContrastiveSettings
    ) -> None:
        """Keep functions for the name of stored embeddings and for the encoders; call them on first use."""
        self._identify = load_once(identify)
        self._load = load_once(load)
        self._settings = settings
        self._captions = TextMemory(self)

    @property
    def name(self) -> str:
        """Name under which the embeddings are stored."""
        return self._identify()

    def embed_images(self, images: Sequence[Image]) -> Embeddings:
        """Return a vector of length 1 for each of n pictures, grayscale and RGBA as RGB, shape (n, d)."""
        colour = [pixels_of(image) for image in images]
        return self._embed(self._load().images, colour) if colour else self.embed_texts([""])[:0]

    def embed_texts(self, texts: Sequence[str]) -> Embeddings:
        """Return a vector of length 1 for each of n texts, shape (n, d)."""
        rows = self._embed(self._load().texts, texts or [""])
        return rows if texts else rows[:0]

    def recognize(self, images: Sequence[Image], labels: Sequence[str]) -> NDArray[np.float32]:
        """Return how well each of m labels fits each of n pictures, [0, 1], shape (n, m).

        Labels are put into the caption of the model's file, underscores as spaces, and embedded once.

        Raises:
            ModelUnavailable: the model or its weights are missing.
            BadInput: there are no labels, one is blank, or a picture is none.
        """
        from scipy.special import expit, softmax  # noqa: PLC0415 - takes 0.1 s, which no start needs

        if isinstance(labels, str) or not labels:
            raise BadInput("no labels to recognize: give a list of one or more")
        plain = [" ".join(label.replace("_", " ").split()) for label in labels]
        if not all(plain):
            raise BadInput(f"label {plain.index('') + 1} of {len(plain)} is blank: remove it")
        captions = [self._settings.caption.replace(LABEL, label) for label in plain]
        seen = self.embed_images(images)
        encoders = self._load()
        logits = encoders.scale * (seen @ self._captions.embed_texts(captions).T)
        fit: NDArray[np.float32]
        fit = softmax(logits, axis=1) if encoders.bias is None else expit(logits + encoders.bias)
        return fit.astype(np.float32, copy=False)

    def _embed(
        self, encode: Callable[[Sequence[Any]], NDArray[np.float32]], items: Sequence[Any]
    ) -> Embeddings:
        """Return a row of length 1 for each of n pictures or texts, encoded batch by batch, shape (n, d)."""
        rows = np.concatenate([encode(batch) for batch in batches(items, self._settings.batch)])
        unit: Embeddings = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


_WHOLE = 16 * 2**20
"""Largest size in bytes of a weight file that is read whole for its fingerprint."""
_SAMPLES, _SAMPLE = 64, 2**16
"""Number of samples read of a larger file for its fingerprint, and the bytes of each; chosen."""


def identity(source: str) -> str:
    """Return a name for a checkpoint: its hub id, or its path's last part with digits of its contents.

    Who publishes a hub id vouches for what it holds. Of large files the digits depend on samples alone.
    """
    path = Path(source).expanduser()
    return f"{path.name}-{fingerprint(path)}" if path.exists() else source


def fingerprint(path: Path) -> str:
    """Return eight hexadecimal digits that differ for files, or folders of files, with other contents."""
    files = [path] if path.is_file() else sorted(file for file in path.iterdir() if file.is_file())
    digest = hashlib.sha256()
    for file in files:
        size = file.stat().st_size
        digest.update(f"{file.name if path.is_dir() else ''}/{size}\0".encode())
        digest.update(_content(file, size))
    return digest.hexdigest()[:8]


def _content(file: Path, size: int) -> bytes:
    """Return the bytes of a file of `size` bytes: all, or samples of one larger than `_WHOLE`."""
    with file.open("rb") as stream:
        if size <= _WHOLE:
            return stream.read()
        parts = []
        for sample in range(_SAMPLES):
            stream.seek(sample * (size - _SAMPLE) // (_SAMPLES - 1))
            parts.append(stream.read(_SAMPLE))
        return b"".join(parts)

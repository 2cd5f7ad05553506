"""The common part of recognizers with an encoder of pictures and one of texts, and names of checkpoints."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
class TorchEncoders:
    """The encoders of a torch model, which is in its evaluation mode."""

    name: str
    """Name of the model, for messages."""
    turn: Lock
    """Lock held while the model computes: two batches at once would need twice the memory."""
    image_rows: Callable[[Sequence[Image]], Any]
    """Function from pictures to a tensor of their embeddings as rows, without gradients."""
    text_rows: Callable[[Sequence[str]], Any]
    """Function from texts to a tensor of their embeddings as rows, without gradients."""
    scale: float
    """Factor on the cosines of pictures and texts."""
    bias: float | None
    """Term added to the scaled cosines; `None` for a model trained with a softmax."""

    def encode(self, to_rows: Callable[[Any], Any], items: Sequence[Any], batch: int) -> Embeddings:
        """Return vectors of length 1 for n pictures or texts by `image_rows` or `text_rows`, shape (n, d).

        Args:
            to_rows: `image_rows` for pictures, `text_rows` for texts.
            items: one or more pictures, or texts.
            batch: number of them that go through the model at once.
        """
        parts: list[NDArray[np.float32]] = []
        for some in batches(items, batch):
            torch = module("torch", extra=EXTRA)
            with self.turn, guard_memory(self.name, len(some)), torch.inference_mode():
                parts.append(to_rows(some).float().cpu().numpy())
        rows = np.concatenate(parts)
        unit: Embeddings = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


class ContrastiveRecognizer:
    """A recognizer by an encoder of pictures and one of texts, loaded on first use."""

    def __init__(
        self, identify: Callable[[], str], load: Callable[[], TorchEncoders], settings: ContrastiveSettings
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
        if not colour:
            return self.embed_texts([""])[:0]
        encoders = self._load()
        return encoders.encode(encoders.image_rows, colour, self._settings.batch)

    def embed_texts(self, texts: Sequence[str]) -> Embeddings:
        """Return a vector of length 1 for each of n texts, shape (n, d)."""
        encoders = self._load()
        rows = encoders.encode(encoders.text_rows, texts or [""], self._settings.batch)
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

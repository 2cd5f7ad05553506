"""OpenCLIP as encoder of pictures and texts (extra `vision`)."""

from collections.abc import Callable, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Picture

from virl.errors import ModelUnavailable
from virl.platform.movement.instruction.velma.replies import MAX_QUOTED
from virl.platform.streetview import Image

PAPER_MODEL = ("ViT-bigG-14", "laion2b_s39b_b160k")
"""Architecture and weights of the paper (section 6), as OpenCLIP names them; about 10 GB to download."""

Loaded = tuple[Any, Callable[[Any], Any], Callable[[list[str]], Any]]
"""A model with `encode_image` and `encode_text`, what prepares a picture, and a tokenizer."""


class OpenClip:
    """Embeds pictures and texts with an OpenCLIP model, loaded on first use.

    Args:
        architecture: such as `"ViT-bigG-14"`.
        weights: a pretrained tag of that architecture, or a file.
        device: as torch names it; `None` takes a GPU where there is one.

    Raises:
        ModelUnavailable: on first use, without the extra or the weights.
    """

    def __init__(
        self,
        architecture: str = PAPER_MODEL[0],
        weights: str = PAPER_MODEL[1],
        *,
        device: str | None = None,
    ) -> None:
        self._architecture, self._weights, self._wanted_device = architecture, weights, device

    @property
    def name(self) -> str:
        """What statistics and features of this model are labelled with."""
        return f"{self._architecture}/{self._weights}"

    def images(self, images: Sequence[Image]) -> NDArray[np.float32]:
        """As `ImageEncoder.images`."""
        model, prepare, _ = self._loaded
        torch = _module("torch")
        batch = torch.stack([prepare(Picture.fromarray(image)) for image in images]).to(self._device)
        with torch.inference_mode():
            return _unit_rows(model.encode_image(batch).float().cpu().numpy())

    def texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As `TextEncoder.texts`."""
        model, _, tokenize = self._loaded
        with _module("torch").inference_mode():
            return _unit_rows(model.encode_text(tokenize(list(texts)).to(self._device)).float().cpu().numpy())

    @cached_property
    def _loaded(self) -> Loaded:
        return _load(self._architecture, self._weights, self._device)

    @cached_property
    def _device(self) -> str:
        return self._wanted_device or ("cuda" if _module("torch").cuda.is_available() else "cpu")


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ModelUnavailable(
            f"OpenCLIP needs {name}, which is not installed: pip install 'virl[vision]'"
        ) from None


def _load(architecture: str, weights: str, device: str) -> Loaded:
    open_clip = _module("open_clip")
    try:
        model, _, prepare = open_clip.create_model_and_transforms(
            architecture, pretrained=weights, device=device
        )
        tokenize = open_clip.get_tokenizer(architecture)
    except Exception as fault:  # noqa: BLE001  hub, file and architecture faults have no common base
        first = (str(fault).splitlines() or [type(fault).__name__])[0][:MAX_QUOTED]
        raise ModelUnavailable(
            f"OpenCLIP weights {weights} of {architecture} cannot be loaded ({first}): "
            f"name a pretrained tag and connect to download it, or name a file"
        ) from None
    return model.eval(), prepare, tokenize


def _unit_rows(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit

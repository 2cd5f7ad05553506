"""Loading models of the `transformers` library from a folder on this machine."""

from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from virl.errors import ModelUnavailable, first_line
from virl.extras import module
from virl.files.json_reading import read_json
from virl.platform.perception.models import ModelOptions
from virl.platform.perception.weights import Precision, checkpoint, device_of, once_per_process, precision_on

EXTRA = "vision"
PACKAGES = ("torch", "torchvision", "transformers")


@dataclass(frozen=True, slots=True)
class Pretrained:
    """A model, ready to be asked."""

    model: Any
    processor: Any
    """Preparation of pictures and texts for the model."""
    device: str
    turn: Lock = field(default_factory=Lock)
    """Lock that a caller of the model holds: two batches at once would need twice the memory."""


def load_pretrained(
    source: str,
    options: ModelOptions,
    *,
    auto: str,
    model_types: tuple[str, ...],
    precision: Precision = "float32",
    half: Precision = "float16",
) -> Pretrained:
    """Load a model and its processor; the same weights are loaded once in a process.

    Weights may be safetensors or torch's own format, of which arrays alone are read, in one file or in parts.

    Args:
        source: as `virl.platform.perception.weights.checkpoint` takes it.
        options: device and downloads.
        auto: the class of `transformers` that loads it, such as `"AutoModelForZeroShotObjectDetection"`.
        model_types: what `model_type` in its `config.json` may be.
        precision: of its weights.
        half: what the precision `"auto"` means on a GPU.

    Raises:
        ModelUnavailable: a package or the checkpoint is missing, is of another kind, or is broken.
    """
    for package in PACKAGES:
        module(package, extra=EXTRA)
    device = device_of(options)
    return _load(
        checkpoint(source, options), device, auto, model_types, precision_on(device, precision, half)
    )


@once_per_process
def _load(path: str, device: str, auto: str, model_types: tuple[str, ...], dtype: str) -> Pretrained:
    """Return a model with its processor, with all its weights, on a device."""
    check_model_type(path, model_types)
    torch, transformers = module("torch", extra=EXTRA), module("transformers", extra=EXTRA)
    try:
        processor = transformers.AutoProcessor.from_pretrained(path, local_files_only=True)
        model, loading = getattr(transformers, auto).from_pretrained(
            path,
            local_files_only=True,
            weights_only=True,  # of a pickle, nothing but arrays
            output_loading_info=True,
            dtype=getattr(torch, dtype),
        )
        if not loading["missing_keys"]:
            return Pretrained(model.eval().to(device), processor, device)
    except torch.OutOfMemoryError as fault:
        raise ModelUnavailable(f"{path}: the GPU's memory is too small for it: use the device cpu") from fault
    except (
        Exception
    ) as fault:  # transformers raises errors of many kinds for files that are missing or broken
        raise ModelUnavailable(
            f"{path} cannot be loaded ({first_line(fault)}): download its files again"
        ) from fault
    missing = min(loading["missing_keys"])
    raise ModelUnavailable(f"{path} lacks weights, such as {missing}: download its files again")


def check_model_type(path: str, expected: tuple[str, ...]) -> None:
    """Refuse a folder whose checkpoint is of another model type.

    Args:
        path: a folder with a `config.json`.
        expected: what its `model_type` may be.

    Raises:
        ModelUnavailable: it holds another kind, or none.
    """
    wanted = " or ".join(expected)
    config = Path(path) / "config.json"
    try:
        found = read_json(config.read_bytes()).get("model_type")
    except (OSError, ValueError, AttributeError) as fault:
        raise ModelUnavailable(
            f"{path} is not a transformers checkpoint ({config.name} cannot be read): "
            f"use a folder with a {wanted}"
        ) from fault
    if found not in expected:
        raise ModelUnavailable(f"{path} contains a model of type {found}: use one of type {wanted}")

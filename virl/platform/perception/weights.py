"""Loading weights: from where, onto which device, once, and what to say when it cannot be done."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from threading import Condition, Lock
from typing import Any, Literal, ParamSpec, TypeVar

from cachetools import cached

from virl.errors import ModelUnavailable, first_line
from virl.extras import missing_packages, module, require
from virl.files.json_reading import read_json
from virl.platform.perception.models import ModelOptions
from virl.resources import data_home

ArgumentsT = ParamSpec("ArgumentsT")
T = TypeVar("T")
ItemT = TypeVar("ItemT")

_HUB = ("huggingface_hub",)
"""Packages that fetch files from the Hugging Face hub."""
_ALWAYS = ("*.jinja", "*.json", "*.model", "*.txt", "*.yml")
"""Patterns of the files that are fetched from a hub's repository beside weights."""

Formats = tuple[str, ...]
"""Patterns of the names of weight files, the best first; each also matches the parts of a split file."""

TRANSFORMERS: Formats = ("model*.safetensors", "pytorch_model*.bin")
"""Patterns of Transformers' names of weight files; of a `.bin` arrays alone are read (`weights_only`)."""
OPENCLIP: Formats = ("open_clip*.safetensors", "open_clip*.bin")
"""Patterns of OpenCLIP's names of weight files."""
PADDLE: Formats = ("*.pdiparams", "*.onnx")
"""Patterns of PaddleOCR's names of weight files."""

Precision = Literal["auto", "float32", "float16", "bfloat16"]
"""Number format of a model's weights; `auto` is 16 bits on a GPU and 32 bits elsewhere."""


def models_home() -> Path:
    """Return the folder in which weights are looked for: `models` in the user's data folder."""
    return data_home() / "models"


def find_checkpoint(source: str) -> Path | None:
    """Return the file or folder of a checkpoint on this machine; `None` if it is not here.

    A source is a path, also one below `models_home()`, or a hub id, also looked for in the hub's own cache.
    """
    for path in (Path(source).expanduser(), models_home() / source):
        if path.exists():
            return path
    return _from_hub(source, download=False) if _is_hub_id(source) and not missing_packages(_HUB) else None


def checkpoint(source: str, options: ModelOptions, formats: Formats = TRANSFORMERS) -> str:
    """Return the path of a checkpoint on this machine, fetched from the hub where that is allowed.

    Args:
        source: as in `find_checkpoint`.
        options: tell whether downloads are allowed.
        formats: patterns of weight files; those of the first that the hub has are fetched.

    Raises:
        ModelUnavailable: the checkpoint is not here and may not or cannot be fetched.
    """
    found = find_checkpoint(source)
    if found is None and _is_hub_id(source) and options.allow_downloads:
        require("vision", *_HUB)
        found = _from_hub(source, download=True, formats=formats)
    if found is None:
        raise ModelUnavailable(": ".join(missing_checkpoint(source)))
    return str(found)


def missing_checkpoint(source: str) -> tuple[str, str]:
    """Return (fault, remedy), both in words, for a checkpoint that is not on this machine."""
    if not _is_hub_id(source):
        return f"weights {source} are not there", f"put them there, or in {models_home()}"
    remedy = (
        f"put the files of https://huggingface.co/{source} into {models_home() / source}, or allow downloads "
        f"with --allow-downloads"
    )
    return f"weights {source} are not on this machine", remedy


def device_of(options: ModelOptions) -> str:
    """Return the name of the device for torch, `"cpu"` or `"cuda"`.

    Raises:
        ModelUnavailable: torch is missing, or a GPU was asked for and there is none.
    """
    if options.device == "cpu":
        return "cpu"
    has_gpu = module("torch", extra="vision").cuda.is_available()
    if options.device == "cuda" and not has_gpu:
        raise ModelUnavailable("no GPU that torch can use: choose the device cpu or auto")
    return "cuda" if has_gpu else "cpu"


def precision_on(device: str, wanted: Precision, half: Precision) -> str:
    """Return torch's name of a number format: `wanted`, or if that is `auto`, `half` on a GPU, else float32.

    Args:
        device: "cpu" or "cuda".
        wanted: format that the model's file states.
        half: format that `auto` means on a GPU.
    """
    if wanted != "auto":
        return wanted
    return half if device == "cuda" else "float32"


def load_once(load: Callable[ArgumentsT, T]) -> Callable[ArgumentsT, T]:
    """Return `load` as a function that keeps its results by their arguments, and tries again if it failed."""
    # A condition, not a lock: threads wait for equal arguments only, so different weights load side by side.
    return cached({}, condition=Condition())(load)


@contextmanager
def guard_memory(name: str, batch: int) -> Iterator[None]:
    """Raise `ModelUnavailable` with advice if the GPU lacks memory for a model's batch within the block.

    Raises:
        ModelUnavailable: the GPU ran out of memory.
    """
    torch = module("torch", extra="vision")
    try:
        yield
    except torch.OutOfMemoryError as fault:
        smaller = f"set `batch` below {batch} in its model file" if batch > 1 else "use smaller pictures"
        raise ModelUnavailable(
            f"{name}: the GPU's memory is too small for {batch} at once: {smaller}, or use the device cpu"
        ) from fault


def batches(items: Sequence[ItemT], size: int) -> Iterator[Sequence[ItemT]]:
    """Yield consecutive parts of `items`, each of `size` items, the last perhaps of fewer."""
    for first in range(0, len(items), size):
        yield items[first : first + size]


def _is_hub_id(source: str) -> bool:
    """Return whether a source looks like a hub id, `owner/name`; anything else can only be a path."""
    owner, slash, name = source.partition("/")
    return bool(owner and slash and name) and "/" not in name and not source.startswith((".", "~", "/"))


def _from_hub(source: str, *, download: bool, formats: Formats = ()) -> Path | None:
    """Return a checkpoint's folder in the hub's cache, fetched if `download`; `None` if it is not there."""
    hub = module("huggingface_hub", extra="vision")
    try:
        wanted = [
            *_ALWAYS,
            *(_weight_files(source, hub.list_repo_files(source), formats) if download else ()),
        ]
        folder = hub.snapshot_download(source, local_files_only=not download, allow_patterns=wanted)
    except hub.errors.HFValidationError:
        return None
    except hub.errors.LocalEntryNotFoundError as fault:
        if not download:
            return None
        raise _not_fetched(source, fault) from fault
    except (hub.errors.HfHubHTTPError, OSError) as fault:
        raise _not_fetched(source, fault) from fault
    return Path(folder)


def _weight_files(source: str, names: Sequence[str], formats: Formats) -> list[str]:
    """Return those of a repository's file names that match the first pattern of `formats` with any match."""
    for pattern in formats:
        if fitting := [name for name in names if fnmatch(name, pattern)]:
            return fitting
    raise ModelUnavailable(f"weights {source}: no file {' or '.join(formats)} there: choose other weights")


def _not_fetched(source: str, fault: Exception) -> ModelUnavailable:
    """Return the error for weights that could not be fetched because of `fault`."""
    return ModelUnavailable(
        f"weights {source} cannot be fetched ({first_line(fault)}): connect to huggingface.co, "
        f"or put them into {models_home() / source}"
    )


EXTRA = "vision"
"""Name of virl's extra that brings the packages of models with weights."""
PACKAGES = ("torch", "torchvision", "transformers")
"""Names of the packages that models of the `transformers` library need."""


@dataclass(frozen=True, slots=True)
class Pretrained:
    """A loaded model of the `transformers` library with its processor."""

    model: Any
    """The model on its device, in evaluation mode."""
    processor: Any
    """Preparation of pictures and texts for the model."""
    device: str
    """Torch's name of the device: "cpu" or "cuda"."""
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
    """Return a model of the `transformers` class `auto` with its processor, loaded once in a process.

    Weights may be safetensors or torch's own format, of which arrays alone are read, in one file or in parts.

    Args:
        source: as `checkpoint` takes it.
        options: tell the device, and whether downloads are allowed.
        auto: class of `transformers` that loads it, such as `"AutoModelForZeroShotObjectDetection"`.
        model_types: allowed values of `model_type` in its `config.json`.
        precision: number format of its weights.
        half: number format that `"auto"` means on a GPU.

    Raises:
        ModelUnavailable: a package or the checkpoint is missing, is of another kind, or is broken.
    """
    for package in PACKAGES:
        module(package, extra=EXTRA)
    device = device_of(options)
    return _load(
        checkpoint(source, options), device, auto, model_types, precision_on(device, precision, half)
    )


@load_once
def _load(path: str, device: str, auto: str, model_types: tuple[str, ...], dtype: str) -> Pretrained:
    """Return the model in a folder on a device, loaded with torch's type `dtype`; see `load_pretrained`."""
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
    """Raise `ModelUnavailable` unless the `config.json` in a folder states one of some model types.

    Raises:
        ModelUnavailable: the folder contains another type, or none.
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

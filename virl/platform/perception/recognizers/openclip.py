"""CLIP, EVA-02-CLIP, SigLIP and others through OpenCLIP (extra `vision`)."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from PIL import Image as Picture
from pydantic import model_validator

from virl.errors import BadInput, ModelUnavailable, UnknownName, first_line
from virl.extras import module, require
from virl.files.json_reading import read_json
from virl.platform.city.streetview import Image
from virl.platform.perception.contrastive import (
    HALF,
    ContrastiveRecognizer,
    ContrastiveSettings,
    Encoders,
    identity,
    kept_under,
    torch_encoders,
)
from virl.platform.perception.models import ModelOptions, Models
from virl.platform.perception.registry import Kind, Needs
from virl.platform.perception.weights import (
    OPENCLIP,
    checkpoint,
    device_of,
    find_checkpoint,
    load_once,
    precision_on,
)

_EXTRA, _PACKAGES = "vision", ("torch", "open_clip")
"""Name of virl's extra for the packages, and their names."""
_CONFIG = "open_clip_config.json"
"""Name of the file in a folder of OpenCLIP that describes the model."""
_WEIGHTS = (
    "open_clip_model.safetensors", "open_clip_pytorch_model.safetensors", "open_clip_pytorch_model.bin",
)  # fmt: skip
"""Names of the file of weights in a folder of OpenCLIP, the best first."""
_PRECISIONS = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}
"""OpenCLIP's names of the precisions; normalisation stays in float32."""


class OpenClipSettings(ContrastiveSettings):
    """Settings of a model of OpenCLIP.

    A folder that OpenCLIP saved knows all about itself. A file needs the architecture, and the tag where its
    pictures are prepared in a way of their own. A tag without `weights` means those that OpenCLIP names.
    """

    kind: Literal["openclip"]
    architecture: str = ""
    """Name of an architecture of OpenCLIP, such as `ViT-bigG-14`; empty where a folder states it."""
    tag: str = ""
    """Name of published weights of OpenCLIP, such as `laion2b_s39b_b160k`; empty for your own."""
    weights: str = ""
    """File or folder with the weights, or a hub id; empty for those that OpenCLIP names."""

    @model_validator(mode="after")
    def _says_enough(self) -> "OpenClipSettings":
        """Check that architecture, tag and weights together name a model."""
        if not self.weights and not (self.architecture and self.tag):
            raise ValueError("needs weights, or an architecture and a tag")
        if self.tag and not self.architecture:
            raise ValueError("a tag needs its architecture")
        return self

    def needs(self) -> Needs:
        """Return the requirements: the packages and the weights."""
        weights = (self.weights,) if self.weights else ()
        return Needs(_PACKAGES, _EXTRA, weights=weights)


def open_openclip(settings: OpenClipSettings, models: Models) -> ContrastiveRecognizer:
    """Return a recognizer through OpenCLIP, whose weights are loaded on first use."""
    return ContrastiveRecognizer(
        lambda: kept_under(_identify(settings), settings, models.options),
        lambda: _find_and_load(settings, models.options),
        settings,
    )


KIND = Kind("recognizer", OpenClipSettings, open_openclip)


def _identify(settings: OpenClipSettings) -> str:
    """Return the name of the model that its embeddings are stored under: it differs for other weights."""
    if settings.tag and not Path(settings.weights or ".nowhere").expanduser().exists():
        return f"{settings.architecture}/{settings.tag}"
    return "/".join(filter(None, [settings.architecture, identity(settings.weights)]))


def _find_and_load(settings: OpenClipSettings, options: ModelOptions) -> Encoders:
    """Return the encoders of the settings' model, with weights from the hub if need be and allowed."""
    require(_EXTRA, *_PACKAGES)
    open_clip = module("open_clip", extra=_EXTRA)
    published = _tag_settings(open_clip, settings)
    source = settings.weights or published["hf_hub"].rpartition("/")[0]
    path = Path(checkpoint(source, options, OPENCLIP))
    device = device_of(options)
    precision = precision_on(device, settings.precision, HALF)
    if (path / _CONFIG).is_file():
        _refuse_fetching(path / _CONFIG, options)
        return _load(f"local-dir:{path}", "", _weights_in(path), device, precision)
    if not settings.architecture:
        raise BadInput(f"{path}: contains no {_CONFIG}: give the architecture in the model file")
    return _load(settings.architecture, settings.tag, _weights_in(path), device, precision)


def _tag_settings(open_clip: Any, settings: OpenClipSettings) -> Mapping[str, Any]:
    """Return OpenCLIP's own settings of the published weights with the tag; empty without a tag."""
    architecture, tag = settings.architecture, settings.tag
    known = open_clip.list_models()
    if architecture and architecture not in known:
        raise UnknownName(
            "OpenCLIP architecture", architecture, get_close_matches(architecture, known) or known
        )
    published: Mapping[str, Any] = open_clip.get_pretrained_cfg(architecture, tag) if tag else {}
    if tag and not published:
        tags = open_clip.list_pretrained_tags_by_model(architecture)
        raise UnknownName(f"OpenCLIP tag of {architecture}", tag, tags)
    return published


def _weights_in(path: Path) -> tuple[str, ...]:
    """Return the paths of a checkpoint's weight file, or of the files it is split into."""
    if path.is_file():
        return (str(path),)
    for name in _WEIGHTS:
        if (path / name).is_file():
            return (str(path / name),)
        if (path / f"{name}.index.json").is_file():
            return _listed_files(path / f"{name}.index.json")
    raise ModelUnavailable(
        f"{path}: contains none of {', '.join(_WEIGHTS)}, nor the index.json of one in parts: add one of them"
    )


def _listed_files(index: Path) -> tuple[str, ...]:
    """Return the paths of the weight files in an index; raise `ModelUnavailable` if one is missing."""
    try:
        names = sorted(set(read_json(index.read_bytes())["weight_map"].values()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as fault:
        raise ModelUnavailable(
            f"{index} is no index of weights ({first_line(fault)}): get it again"
        ) from fault
    if lacking := [name for name in names if not (index.parent / name).is_file()]:
        raise ModelUnavailable(f"{index.parent}: {lacking[0]} is missing: download it too")
    return tuple(str(index.parent / name) for name in names)


def _refuse_fetching(config: Path, options: ModelOptions) -> None:
    """Raise `ModelUnavailable` if a model's text encoder would be fetched without permission."""
    try:
        text_tower = read_json(config.read_bytes())["model_cfg"]["text_cfg"].get("hf_model_name")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as fault:
        raise BadInput(
            f"{config}: not an OpenCLIP configuration ({first_line(fault)}): get it again"
        ) from fault
    if text_tower and not options.allow_downloads and find_checkpoint(text_tower) is None:
        raise ModelUnavailable(
            f"{config.parent}: its text tower is {text_tower}: allow downloads to fetch it"
        )


@load_once
def _load(architecture: str, tag: str, files: tuple[str, ...], device: str, precision: str) -> Encoders:
    """Return the encoders of an architecture with the weights in some files, in a number format on a device.

    `architecture` may be `local-dir:` and a folder; `tag` says how pictures are prepared, and may be empty.
    """
    open_clip, torch = module("open_clip", extra=_EXTRA), module("torch", extra=_EXTRA)
    published = open_clip.get_pretrained_cfg(architecture, tag) if tag else {}
    is_folder = architecture.startswith("local-dir:")
    try:
        tokenize = (
            open_clip.get_tokenizer(architecture) if is_folder else _own_tokenizer(open_clip, architecture)
        )
        model, _, prepare = open_clip.create_model_and_transforms(
            architecture,
            pretrained=None if is_folder or len(files) > 1 else files[0],
            load_weights=len(files) == 1,
            precision=_PRECISIONS[precision],
            device=device,
            force_quick_gelu=bool(published.get("quick_gelu")),
            image_mean=published.get("mean"),
            image_std=published.get("std"),
            image_interpolation=published.get("interpolation"),
            image_resize_mode=published.get("resize_mode"),
        )
        if len(files) > 1:
            load = module("open_clip.factory", extra=_EXTRA).load_state_dict
            whole = {name: array for file in files for name, array in load(file).items()}
            model.load_state_dict(whole, strict=True)
    except ModelUnavailable:
        raise
    except torch.OutOfMemoryError as fault:
        raise ModelUnavailable(
            f"{architecture}: the GPU's memory is too small for it: use the device cpu"
        ) from fault
    except Exception as fault:  # file and architecture faults have no common base
        raise ModelUnavailable(
            f"{architecture.removeprefix('local-dir:') if is_folder else files[0]} is not a checkpoint that "
            f"OpenCLIP can load as {'its configuration says' if is_folder else architecture} "
            f"({first_line(fault)}): "
            f"name its true architecture, or give another file"
        ) from fault
    model.eval()

    def image_rows(images: Sequence[Image]) -> Any:
        """Return an embedding for each of n pictures, as a torch tensor (n, d)."""
        batch = torch.stack([prepare(Picture.fromarray(image)) for image in images])
        return model.encode_image(batch.to(device, getattr(torch, precision)))

    def text_rows(texts: Sequence[str]) -> Any:
        """Return an embedding for each of n texts, as a torch tensor (n, d)."""
        return model.encode_text(tokenize(list(texts)).to(device))

    return torch_encoders(architecture, model, Lock(), image_rows, text_rows)


def _own_tokenizer(open_clip: Any, architecture: str) -> Any:
    """Return an architecture's tokenizer; raise `ModelUnavailable` if it would be fetched from the hub."""
    words = open_clip.get_model_config(architecture)["text_cfg"].get("hf_tokenizer_name")
    if words:
        raise ModelUnavailable(
            f"{architecture} needs the tokenizer {words}: give the whole folder, with {_CONFIG}, not a file"
        )
    return open_clip.get_tokenizer(architecture)

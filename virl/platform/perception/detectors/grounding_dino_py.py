"""Grounding DINO through its authors' code, as the package `groundingdino-py` carries it."""

from collections.abc import Sequence
from contextlib import redirect_stdout
from functools import partial
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from PIL import Image as Picture
from pydantic import Field

from virl.errors import ModelUnavailable, first_line
from virl.extras import missing_packages, module
from virl.platform.city.streetview import Image
from virl.platform.perception.detections import Rows, WordDetector, WordDetectorSettings
from virl.platform.perception.detectors.grounding_dino import Network, open_network
from virl.platform.perception.models import ModelOptions, Models
from virl.platform.perception.registry import Kind, Needs
from virl.platform.perception.weights import EXTRA, checkpoint, device_of, load_once

PACKAGES = ("torch", "torchvision", "transformers", "groundingdino")
"""Names of the packages that the detector imports."""
CONFIGS = {"swin-t": "GroundingDINO_SwinT_OGC", "swin-b": "GroundingDINO_SwinB_cfg"}
"""Names of the package's own configurations, by backbone."""
PIP = "'virl[groundingdino]'"
"""Argument of `pip install` for the packages."""
REMEDY = f"use the detector grounding-dino, or an environment of its own with pip install {PIP}"
"""Remedy for missing or clashing packages, in words."""


class GroundingDinoPySettings(WordDetectorSettings):
    """Settings of the detector; `platform/models/grounding-dino-py.yaml` gives the reasons for the values."""

    kind: Literal["grounding-dino-py"]
    backbone: Literal["swin-t", "swin-b"]
    """Backbone of the network, which the weights are for."""
    text_encoder: str
    """Folder with BERT's tokenizer and weights, or a hub id."""
    shortest_edge: int = Field(ge=32)
    """Length in pixels that a picture's shorter side is scaled to."""
    longest_edge: int = Field(ge=32)
    """Largest length in pixels of a picture's longer side."""

    def needs(self) -> Needs:
        """Return the requirements: packages, the network's weights and those of its text encoder."""
        return Needs(PACKAGES, weights=(self.weights, self.text_encoder), pip=PIP, clash=clash())


def open_grounding_dino_py(settings: GroundingDinoPySettings, models: Models) -> WordDetector:
    """Return the detector, whose weights are loaded on first use."""
    return open_network(partial(load_network, settings, models.options), settings)


KIND = Kind("detector", GroundingDinoPySettings, open_grounding_dino_py)


def load_network(settings: GroundingDinoPySettings, options: ModelOptions) -> Network:
    """Return the network with its weights on its device; equal ones are loaded once in a process.

    Raises:
        ModelUnavailable: a package or the weights are missing, do not fit, or do not work together.
    """
    if missing_packages(("groundingdino",)):
        raise ModelUnavailable(f"groundingdino-py not installed: {REMEDY}")
    if clashing := clash():
        raise ModelUnavailable(clashing)
    return _load(
        checkpoint(settings.weights, options),
        checkpoint(settings.text_encoder, options),
        settings.backbone,
        (settings.shortest_edge, settings.longest_edge),
        device_of(options),
    )


def clash() -> str:
    """Return why `groundingdino` clashes with the installed `transformers`; empty if it does not.

    It calls `BertModel.get_head_mask`, which is gone since version 5 (measured: 0.4.0 works with 4.57).
    """
    if missing_packages(("transformers",)):
        return ""
    installed = version("transformers")
    major = int(installed.partition(".")[0])
    return f"groundingdino-py does not work with transformers {installed}: {REMEDY}" if major >= 5 else ""


@load_once
def _load(path: str, text_encoder: str, backbone: str, edges: tuple[int, int], device: str) -> Network:
    """Return the network in a file on a device; `edges` are a picture's shorter and largest longer side."""
    config = module(f"groundingdino.config.{CONFIGS[backbone]}", extra=EXTRA)
    arguments = {name: value for name, value in vars(config).items() if not name.startswith("_")}
    changed = {"text_encoder_type": text_encoder, "use_checkpoint": False, "use_transformer_ckpt": False}
    slconfig = module("groundingdino.util.slconfig", extra=EXTRA)
    try:
        with redirect_stdout(StringIO()):  # the package prints what it does
            model = module("groundingdino.models", extra=EXTRA).build_model(
                slconfig.SLConfig({**arguments, **changed})
            )
        # its files hold weights that the network no longer has, so only those that it lacks count
        missing = model.load_state_dict(_weights(path), strict=False).missing_keys
    except Exception as fault:
        raise ModelUnavailable(f"{path} cannot be loaded ({first_line(fault)}): download it again") from fault
    if missing:
        raise ModelUnavailable(
            f"{path} contains no Grounding DINO with {backbone}: {min(missing)} is missing"
        )
    transforms = module("groundingdino.datasets.transforms", extra=EXTRA)
    prepare = transforms.Compose(
        [
            transforms.RandomResize([edges[0]], max_size=edges[1]),
            transforms.ToTensor(),
            transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
        ]
    )
    model = model.eval().to(device)
    torch, turn = module("torch", extra=EXTRA), Lock()

    def score(batch: Sequence[Image], prompt: str) -> tuple[Rows, Rows]:
        """Return scores and boxes by a prompt for pictures of one size, as `Network.score` says."""
        pictures = [prepare(Picture.fromarray(image), None)[0] for image in batch]
        with turn, torch.inference_mode():
            seen = model(torch.stack(pictures).to(device), captions=[prompt] * len(batch))
            return seen["pred_logits"].sigmoid().cpu().numpy(), seen["pred_boxes"].cpu().numpy()

    return Network(model.tokenizer, score)


def _weights(path: str) -> dict[str, Any]:
    """Return {name: weights} of a file of safetensors or torch; of a torch file arrays alone are read."""
    if Path(path).suffix == ".safetensors":
        named: dict[str, Any] = module("safetensors.torch", extra=EXTRA).load_file(path)
        return named
    named = module("torch", extra=EXTRA).load(path, map_location="cpu", weights_only=True)
    return {name.removeprefix("module."): array for name, array in named.get("model", named).items()}

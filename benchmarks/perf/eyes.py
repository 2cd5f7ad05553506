"""How many images a second go through the networks of recognizers and detectors?

    python -m benchmarks.perf.eyes [--network ViT-B-32 ...] [--batch 1 8] [--precision float32]
        [--device auto] [--rounds 3] [--json]

Networks have their full size and random weights, which are as fast as trained ones and need no download: any
architecture that OpenCLIP lists (its picture tower), and the detectors `owlvit`, `owlv2` and `grounding-dino`
as their libraries configure them, with eight labels. Pictures are noise at the size that the network takes;
preparing them and reading boxes are not in the time.

On a CPU, seconds are those of the processor, so that other work on the machine disturbs less; set
`OMP_NUM_THREADS=1` to have one thread. On a GPU they are those of the clock.
"""

import logging
import time
from collections.abc import Callable
from typing import Any

from rich.table import Table

from virl.errors import BadInput
from virl.platform.perception.models import ModelOptions
from virl.platform.perception.weights import device_of, module

from .figures import command, figures

EXTRA = "vision"
NETWORKS = ("ViT-B-32", "ViT-L-14-336", "owlv2", "grounding-dino")
LABELS, TOKENS = 8, 16
SIZE = (800, 800)  # of Grounding DINO's pictures, as its library scales a square view
DETECTORS = {
    "owlvit": ("OwlViTConfig", "OwlViTForObjectDetection"),
    "owlv2": ("Owlv2Config", "Owlv2ForObjectDetection"),
    "grounding-dino": ("GroundingDinoConfig", "GroundingDinoForObjectDetection"),
}

Batch = Callable[[int], object]
"""Looks at so many pictures."""


def main() -> None:
    """Print images a second for each network and size of a batch."""
    parser = command(__doc__)
    parser.add_argument("--network", nargs="+", default=list(NETWORKS))
    parser.add_argument("--batch", nargs="+", type=int, default=[1, 8])
    parser.add_argument("--precision", default="float32", choices=["float32", "float16", "bfloat16"])
    parser.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # OpenCLIP warns that weights are random
    device = device_of(ModelOptions(device=options.device))
    table = Table("network", "million parameters", *(f"batch {size}" for size in options.batch))
    with figures(options) as found:
        for name in options.network:
            model, run = build(name, device, options.precision)
            size = sum(weights.numel() for weights in model.parameters()) / 1e6
            speeds = [speed(run, batch, options.rounds, device) for batch in options.batch]
            found[name] = {
                "million_parameters": round(size),
                **dict(zip(map(str, options.batch), speeds, strict=True)),
            }
            table.add_row(name, f"{size:.0f}", *(f"{each:.2f}" for each in speeds))
        found.show(f"images a second, {device}, {options.precision}")
        found.show(table)


def build(name: str, device: str, precision: str) -> tuple[Any, Batch]:
    """A network with random weights, and what runs it."""
    torch = module("torch", extra=EXTRA)
    dtype = getattr(torch, precision)
    torch.manual_seed(0)
    if name not in DETECTORS:
        return _tower(torch, name, device, dtype)
    transformers = module("transformers", extra=EXTRA)
    config_name, model_name = DETECTORS[name]
    config = getattr(transformers, config_name)()
    model = getattr(transformers, model_name)(config).eval().to(device, dtype)
    side = getattr(getattr(config, "vision_config", None), "image_size", None)
    height, width = (side, side) if side else SIZE
    labels = 1 if name == "grounding-dino" else LABELS
    words = torch.ones((labels, TOKENS), dtype=torch.long, device=device)

    def run(batch: int) -> object:
        pictures = torch.rand((batch, 3, height, width), device=device, dtype=dtype)
        return model(pixel_values=pictures, input_ids=words.repeat(batch, 1))

    return model, run


def _tower(torch: Any, name: str, device: str, dtype: Any) -> tuple[Any, Batch]:
    open_clip = module("open_clip", extra=EXTRA)
    if name not in open_clip.list_models():
        raise BadInput(f"{name}: name one of {', '.join(DETECTORS)}, or an architecture of OpenCLIP")
    model = open_clip.create_model(name, pretrained=None, device=device).eval().to(dtype)
    side = model.visual.image_size
    height, width = side if isinstance(side, tuple) else (side, side)

    def run(batch: int) -> object:
        return model.encode_image(torch.rand((batch, 3, height, width), device=device, dtype=dtype))

    return model, run


def speed(run: Batch, batch: int, rounds: int, device: str) -> float:
    """Images a second: the best of some rounds, after one that is not timed."""
    torch = module("torch", extra=EXTRA)
    clock = time.perf_counter if device == "cuda" else time.process_time
    best = 0.0
    with torch.inference_mode():
        run(batch)
        for _ in range(rounds):
            _wait(torch, device)
            begun = clock()
            run(batch)
            _wait(torch, device)
            best = max(best, batch / (clock() - begun))
    return best


def _wait(torch: Any, device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()

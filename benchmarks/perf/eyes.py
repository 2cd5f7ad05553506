"""How many images a second go through the networks of recognizers and detectors?

    python -m benchmarks.perf.eyes [--network ViT-B-32 ...] [--batch 1 8 16] [--precision float32 bfloat16]
        [--device auto] [--rounds 3] [--json]

Networks have the size of the models in `platform/models` and random weights, which are as fast as trained
ones and need no download: any architecture that OpenCLIP lists (its picture tower), and the detectors
`owlvit` (large, patch 14, 840 pixels), `owlv2` (base, patch 16, 960 pixels) and `grounding-dino` (Swin-B),
with eight labels. Pictures are noise at the size that the network takes; preparing them and reading boxes are
not in the time.

On a CPU, seconds are those of the processor, so that other work on the machine disturbs less; set
`OMP_NUM_THREADS=1` to have one thread. On a GPU they are those of the clock, and the table has the GPU's
memory at its highest.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from virl.errors import BadInput
from virl.extras import module
from virl.pages.numbers import count_noun
from virl.platform.perception.models import ModelOptions
from virl.platform.perception.weights import device_of

from .figures import best_seconds, command, figure_table, figures

EXTRA = "vision"
PRECISIONS = ("float32", "float16", "bfloat16")
NETWORKS = ("ViT-B-32", "ViT-L-14-336", "owlv2", "grounding-dino")
LABELS, TOKENS = 8, 16
SIZE = (800, 800)  # of Grounding DINO's pictures, as its library scales a square view
DETECTORS: Mapping[str, tuple[str, str]] = {
    "owlvit": ("OwlViTConfig", "OwlViTForObjectDetection"),
    "owlv2": ("Owlv2Config", "Owlv2ForObjectDetection"),
    "grounding-dino": ("GroundingDinoConfig", "GroundingDinoForObjectDetection"),
}
# As the `config.json` of the weights that platform/models names; the rest is as the library has it.
_SIZES: Mapping[str, Mapping[str, Any]] = {
    "owlvit": {
        "projection_dim": 768,
        "text_config": {"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12},
        "vision_config": {
            "hidden_size": 1024,
            "intermediate_size": 4096,
            "num_attention_heads": 16,
            "num_hidden_layers": 24,
            "patch_size": 14,
            "image_size": 840,
        },
    },
    "owlv2": {"vision_config": {"image_size": 960}},
    "grounding-dino": {
        "backbone_config": {
            "model_type": "swin",
            "image_size": 384,
            "window_size": 12,
            "embed_dim": 128,
            "depths": [2, 2, 18, 2],
            "num_heads": [4, 8, 16, 32],
            "out_indices": [2, 3, 4],
        }
    },
}

Batch = Callable[[int], object]
"""A function that runs a network on so many random pictures."""


def main() -> None:
    """Print the images a second of each network, precision and batch size."""
    parser = command(__doc__)
    parser.add_argument("--network", nargs="+", default=list(NETWORKS))
    parser.add_argument("--batch", nargs="+", type=int, default=[1, 8, 16])
    parser.add_argument("--precision", nargs="+", default=["float32"], choices=PRECISIONS)
    parser.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # OpenCLIP warns that weights are random
    device = device_of(ModelOptions(device=options.device))
    columns = [f"batch {size}" for size in options.batch]
    table = figure_table("network", "precision", "million parameters", *columns, "GiB of the GPU")
    with figures(options) as found:
        for name in options.network:
            found[name] = {}
            for precision in options.precision:
                row = _measure(name, device, precision, options.batch, options.rounds)
                found[name][precision] = row
                speeds = [f"{row[str(size)]:.2f}" for size in options.batch]
                gib = "-" if row["gpu_gib"] is None else f"{row['gpu_gib']:.1f}"
                table.add_row(name, precision, f"{row['million_parameters']:.0f}", *speeds, gib)
        found.show(f"images a second, {device_name(device)}, random weights")
        found.show(table)


def _measure(name: str, device: str, precision: str, batches: Sequence[int], rounds: int) -> dict[str, Any]:
    """Return a network's images a second by batch size, its million parameters, and the GPU's peak memory."""
    torch = module("torch", extra=EXTRA)
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    model, run = _build(name, device, precision)
    size = sum(weights.numel() for weights in model.parameters()) / 1e6
    speeds = {str(batch): _speed(run, batch, rounds, device) for batch in batches}
    peak = torch.cuda.max_memory_allocated() / 2**30 if device == "cuda" else None
    return {"million_parameters": round(size), **speeds, "gpu_gib": peak}


def device_name(device: str) -> str:
    """Return the name of the GPU, or "CPU" with its number of threads."""
    torch = module("torch", extra=EXTRA)
    if device == "cuda":
        return str(torch.cuda.get_device_name())
    return f"CPU ({count_noun(torch.get_num_threads(), 'thread')}, seconds of the processor)"


def _build(name: str, device: str, precision: str) -> tuple[Any, Batch]:
    """Return (network of this name with random weights, function that runs it on a batch)."""
    torch = module("torch", extra=EXTRA)
    dtype = getattr(torch, precision)
    torch.manual_seed(0)
    if name not in DETECTORS:
        return _open_tower(torch, name, device, dtype)
    transformers = module("transformers", extra=EXTRA)
    config_name, model_name = DETECTORS[name]
    config = getattr(transformers, config_name)(**_SIZES[name])
    model = getattr(transformers, model_name)(config).eval().to(device, dtype)
    side = getattr(getattr(config, "vision_config", None), "image_size", None)
    height, width = (side, side) if side else SIZE
    labels = 1 if name == "grounding-dino" else LABELS
    words = torch.ones((labels, TOKENS), dtype=torch.long, device=device)

    def run(batch: int) -> object:
        """Return the network's output for `batch` pictures of noise, with the labels."""
        pictures = torch.rand((batch, 3, height, width), device=device, dtype=dtype)
        return model(pixel_values=pictures, input_ids=words.repeat(batch, 1))

    return model, run


def _open_tower(torch: Any, name: str, device: str, dtype: Any) -> tuple[Any, Batch]:
    """Return (picture tower of an OpenCLIP model, function that runs it on a batch)."""
    open_clip = module("open_clip", extra=EXTRA)
    if name not in open_clip.list_models():
        raise BadInput(f"{name}: name one of {', '.join(DETECTORS)}, or an architecture of OpenCLIP")
    model = open_clip.create_model(name, pretrained=None, device=device).eval().to(dtype)
    side = model.visual.image_size
    height, width = side if isinstance(side, tuple) else (side, side)

    def run(batch: int) -> object:
        """Return the tower's embeddings of `batch` pictures of noise."""
        return model.encode_image(torch.rand((batch, 3, height, width), device=device, dtype=dtype))

    return model, run


def _speed(run: Batch, batch: int, rounds: int, device: str) -> float:
    """Return the images a second of the best of `rounds` rounds of a batch, after one that is not timed."""
    torch = module("torch", extra=EXTRA)

    def run_and_synchronize() -> None:
        """Run one batch, and wait until the GPU has finished it."""
        run(batch)
        if device == "cuda":
            torch.cuda.synchronize()

    with torch.inference_mode():
        clock = time.perf_counter if device == "cuda" else time.process_time
        return batch / best_seconds(run_and_synchronize, rounds, clock)


if __name__ == "__main__":
    main()

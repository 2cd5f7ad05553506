"""How fast are views compared with words? One by one, in batches, and from the store on disk.

    python -m benchmarks.perf.clip [--model NAME] [--steps 8] [--rounds 3] [--batch 32] [--device auto]
        [--allow-downloads] [--seed 0] [--json]

Each step is VELMA's: five views of a panorama of Virlton, 800 by 460 pixels, at -90, -45, 0, 45 and 90
degrees. Without `--model` the model is a small vision transformer with random weights (12 layers of width
192, 224 pixels, patches of 32): as fast as a trained one of its size, and blind. `--model` takes a recognizer
of `platform/models`.

The ways are timed in turns, `--rounds` times each, and the median is told, as views a second and as a ratio
to the first way of its group. Loading and the first pictures go before and are not timed.
"""

import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

import numpy as np

from virl.extras import module
from virl.platform.city.interchange import held_street_map
from virl.platform.city.streetview import Image, StreetView
from virl.platform.navigators.velma.vision import OFFSETS, StreetViews, landmark_camera
from virl.platform.perception.base import Embeddings, Recognizer
from virl.platform.perception.embeddings import open_store
from virl.platform.perception.models import ModelOptions, Models
from virl.platform.perception.recognizers.openclip import OpenClipSettings, open_openclip
from virl.platform.perception.weights import batches, device_of
from virl.platform.providers.cities import open_city

from .figures import Figures, command, figures

CITY = "virlton"
STEP = len(OFFSETS)
_SMALL = {
    "embed_dim": 192,
    "vision_cfg": {"image_size": 224, "layers": 12, "width": 192, "head_width": 64, "patch_size": 32},
    "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 64, "heads": 2, "layers": 2},
}

PanoramaHeadings = tuple[str, list[float]]
"""(panorama's id, headings of its views in degrees)."""


def main() -> None:
    """Measure the views a second of each way, and print them."""
    parser = command(__doc__)
    parser.add_argument("--model", help="recognizer (see `virl models`)")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch", type=int, default=32, help="batch size of the random model")
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    parser.add_argument("--allow-downloads", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    models = Models(ModelOptions(device=options.device, allow_downloads=options.allow_downloads))
    city = open_city(CITY)
    steps = _draw_steps(held_street_map(city).panorama_ids(), options.steps, options.seed)
    with figures(options) as found, tempfile.TemporaryDirectory() as name:
        found["model"] = options.model or "a small model with random weights"
        found["device"] = device_of(models.options)
        found.show(f"{found['model']}, on {found['device']}")
        folder = Path(name)
        clip = models.recognizer(options.model) if options.model else _random(models, folder, options.batch)
        _measure(found, clip, city.streetview, steps, folder, options.rounds)


def _measure(
    found: Figures,
    clip: Recognizer,
    street: StreetView,
    steps: Sequence[PanoramaHeadings],
    folder: Path,
    rounds: int,
) -> None:
    """Record and print the views a second of embedding and of walks' steps, for each way."""
    images = [street.view(pano, landmark_camera(h)).pixels for pano, headings in steps for h in headings]
    clip.embed_images(images[:STEP])
    stored = StreetViews(street, clip, open_store(CITY, clip.name, folder))
    _embed_walk(stored, steps)
    groups: Mapping[str, Mapping[str, Callable[[], object]]] = {
        "embedding pictures": {
            "one by one": lambda: _embed_in_batches(clip, images, 1),
            f"a step ({STEP}) at once": lambda: _embed_in_batches(clip, images, STEP),
            "all at once": lambda: _embed_in_batches(clip, images, len(images)),
        },
        "views of steps, drawn or read": {
            "not kept": lambda: _embed_walk(StreetViews(street, clip), steps),
            "kept on disk": lambda: _embed_walk(stored, steps),
        },
    }
    found["views"], found["views_a_second"] = len(images), {}
    found.show(f"{len(images)} views in {len(steps)} steps, median of {rounds} rounds")
    for title, ways in groups.items():
        seconds = _in_turns(ways, rounds)
        first = next(iter(seconds.values()))
        found["views_a_second"][title] = {name: len(images) / spent for name, spent in seconds.items()}
        found.show(title)
        for name, spent in seconds.items():
            found.show(f"  {name:20} {len(images) / spent:10.1f} views a second {first / spent:8.2f} x")


def _in_turns(ways: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the median seconds of each way over `rounds` rounds, ways taken in turn."""
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            spent[name].append(time.perf_counter() - start)
    return {name: median(times) for name, times in spent.items()}


def _embed_in_batches(clip: Recognizer, images: Sequence[Image], size: int) -> None:
    """Run the recognizer over all pictures, `size` at a time."""
    for batch in batches(images, size):
        clip.embed_images(batch)


def _embed_walk(views: StreetViews, steps: Sequence[PanoramaHeadings]) -> Embeddings:
    """Return the embeddings of the views of all steps, shape (views, values)."""
    return np.concatenate([views.views(pano_id, headings) for pano_id, headings in steps])


def _draw_steps(panoramas: Sequence[str], count: int, seed: int) -> list[PanoramaHeadings]:
    """Return `count` random panoramas, each with the headings of its views, degrees."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(panoramas), min(count, len(panoramas)), replace=False)
    facings = rng.integers(360, size=len(chosen)).tolist()
    return [
        (panoramas[i], [facing + offset for offset in OFFSETS])
        for i, facing in zip(chosen, facings, strict=True)
    ]


def _random(models: Models, folder: Path, batch: int) -> Recognizer:
    """Return a small recognizer with random weights, saved in `folder` and opened like any other."""
    open_clip, torch = module("open_clip", extra="vision"), module("torch", extra="vision")
    home = folder / "random"
    home.mkdir()
    (home / "open_clip_config.json").write_text(json.dumps({"model_cfg": _SMALL}), encoding="utf-8")
    torch.manual_seed(0)
    torch.save(open_clip.CLIP(**_SMALL).state_dict(), home / "open_clip_pytorch_model.bin")
    return open_openclip(OpenClipSettings(kind="openclip", weights=str(home), batch=batch), models)


if __name__ == "__main__":
    main()

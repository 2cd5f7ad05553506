"""What came of a training, in numbers."""

from collections.abc import Iterable, Mapping
from typing import Any

import torch

from virl.bench.records import versions

from .loop import Training
from .metrics import read_metrics


def results_of(
    training: Training, settings: Mapping[str, Any], skipped: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    """The payload of `results.json`.

    Args:
        training: run to its end.
        settings: what it depended on.
        skipped: why episodes were left out, by split and id.
    """
    learner, progress = training.learner, training.progress
    metrics = read_metrics(training.out)
    updates = [line for line in metrics if line["kind"] == "update"]
    evaluations = [line for line in metrics if line["kind"] == "dev"]
    gold = [training.lessons.gold(route) for route in training.train]
    cuda = learner.device.type == "cuda"
    return {
        "settings": settings,
        "versions": versions("torch", "transformers", "peft", "tokenizers"),
        "device": torch.cuda.get_device_name(learner.device) if cuda else "cpu",
        "precision": learner.precision,
        "parameters": {
            "all": sum(parameter.numel() for parameter in learner.model.parameters()),
            "trained": sum(
                parameter.numel() for parameter in learner.model.parameters() if parameter.requires_grad
            ),
        },
        "episodes": {"train": len(training.train), "dev": len(training.dev)},
        "skipped": skipped,
        "gold_samples": {
            "tokens": sum(len(sample.ids) for sample in gold),
            "longest": max(len(sample.ids) for sample in gold),
            "action_tokens": sum(sample.learned for sample in gold),
            "actions_beyond_cutoff": sum(sample.cut for sample in gold),
            "tokens_shared_with_other_text": sum(sample.shared for sample in gold),
        },
        "steps": progress.step,
        "samples": _total(line["sources"] for line in updates),
        "best": next((line for line in evaluations if line["epoch"] == progress.best_epoch), None),
        "last": evaluations[-1] if evaluations else None,
        "invalid_replies": sum(line["invalid"] for line in evaluations),
        "seconds": round(progress.seconds, 1),
        "tokens_per_second": {
            "training": _rate(updates, ("tokens", "rollout_tokens")),
            "evaluation": _rate(evaluations, ("tokens",)),
        },
        "peak_memory_mib": max((line["peak_memory_mib"] or 0 for line in metrics), default=0) or None,
    }


def _total(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for count in counts:
        for name, number in count.items():
            totals[name] = totals.get(name, 0) + number
    return totals


def _rate(lines: list[dict[str, Any]], fields: tuple[str, ...]) -> float | None:
    seconds = sum(line["seconds"] for line in lines)
    return round(sum(line[name] for line in lines for name in fields) / seconds, 1) if seconds else None

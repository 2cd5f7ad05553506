"""`metrics.jsonl`: a line for each step and each evaluation of a training."""

import json
from pathlib import Path
from typing import Any

from virl.files.writing import JsonLines

METRICS = "metrics.jsonl"


def metrics_of(out: Path, size: int) -> JsonLines:
    """Return the metrics file of the training in `out`, ready for further lines; keeps `size` bytes of it.

    Raises:
        CannotWrite: the disk refuses.
    """
    lines = JsonLines(out / METRICS, "go on with --resume", sync=False)
    for _ in lines.read(bytes):
        if lines.size >= size:
            break
    lines.heal()
    return lines


def read_metrics(out: Path) -> list[dict[str, Any]]:
    """Return the complete lines of a training's metrics; empty if there is no file.

    Raises:
        BadInput: a line is damaged.
    """
    return list(JsonLines(out / METRICS, "go on with --resume").read(_parse_line))


def _parse_line(line: bytes) -> dict[str, Any]:
    """Return the object in a line of metrics; raise ValueError if it is not JSON."""
    try:
        found: dict[str, Any] = json.loads(line)
    except ValueError:
        raise ValueError("is not JSON: start again with another --out") from None
    return found

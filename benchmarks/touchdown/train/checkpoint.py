"""Checkpoints: adapters, optimizer and progress in safetensors and JSON, nothing that is unpickled.

A checkpoint is a folder `checkpoints/step-N`, which appears under that name only when it is whole; older ones
are removed then.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from virl.errors import BadInput
from virl.files.writing import PARTIAL, refusals_in_a_line

from .learner import Learner
from .model import save_adapter, saving_tensors

_OPTIMIZER, _STATE = "optimizer.safetensors", "state.json"


class Progress(BaseModel):
    """The progress of a training: steps, epochs, best result and time."""

    step: int = 0
    """Number of optimizer steps taken."""
    epoch: int = 0
    """Number of epochs ended, their evaluation included."""
    best_tc: float = -1.0
    """Best task completion on the dev split, [0, 1]; -1 before the first evaluation."""
    best_epoch: int = 0
    metrics_size: int = 0
    """Size in bytes of the part of `metrics.jsonl` that belongs to these steps."""
    seconds: float = 0.0
    """Seconds spent on these steps, evaluations included."""


def save_checkpoint(folder: Path, learner: Learner, progress: Progress) -> Path:
    """Write a checkpoint under `folder`, remove the earlier ones, and return its path.

    Args:
        folder: of the training.
        learner: with its weights.
        progress: with the step's number.

    Raises:
        CannotWrite: the disk refuses; the checkpoint before is kept.
    """
    whole = folder / f"step-{progress.step:07d}"
    partial = whole.with_name(whole.name + PARTIAL)
    with refusals_in_a_line(whole, "go on with --resume"), saving_tensors():
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        save_adapter(learner.model, partial)
        tensors, state = _optimizer_state(learner)
        save_file(tensors, partial / _OPTIMIZER)
        (partial / _STATE).write_text(json.dumps(state | {"progress": progress.model_dump()}, indent=2))
        shutil.rmtree(whole, ignore_errors=True)
        partial.rename(whole)
    for other in folder.glob("step-*"):
        if other != whole:
            shutil.rmtree(other, ignore_errors=True)
    return whole


def latest_checkpoint(folder: Path) -> Path | None:
    """Return the complete checkpoint with the most steps under `folder`; `None` without any."""
    return max((path for path in folder.glob("step-*") if path.suffix != PARTIAL), default=None)


def load_state(checkpoint: Path, learner: Learner) -> Progress:
    """Load a learner's optimizer state from a checkpoint, and return the training's progress.

    Raises:
        BadInput: the checkpoint is damaged.
    """
    try:
        state = json.loads((checkpoint / _STATE).read_text(encoding="utf-8"))
        tensors = load_file(checkpoint / _OPTIMIZER, device=str(learner.device))
        progress = Progress.model_validate(state["progress"])
        _restore_optimizer(learner, state, tensors)
    except (OSError, ValueError, KeyError, SafetensorError, ValidationError) as fault:
        raise BadInput(f"{checkpoint}: is damaged: start again with another --out") from fault
    return progress


def _optimizer_state(learner: Learner) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Return (tensors of the optimizer by name, other state of the learner as plain data)."""
    full = learner.optimizer.state_dict()
    tensors = {
        f"{number}.{name}": tensor
        for number, moments in full["state"].items()
        for name, tensor in moments.items()
    }
    return tensors, {
        "groups": full["param_groups"],
        "scheduler": learner.scheduler.state_dict(),
        "scaler": learner.scaler.state_dict(),
    }


def _restore_optimizer(learner: Learner, state: dict[str, Any], tensors: dict[str, torch.Tensor]) -> None:
    """Set the state of the learner's optimizer, scheduler and scaler from a checkpoint's."""
    moments: dict[int, dict[str, torch.Tensor]] = {}
    for key, tensor in tensors.items():
        number, name = key.split(".", 1)
        moments.setdefault(int(number), {})[name] = tensor
    learner.optimizer.load_state_dict({"state": moments, "param_groups": state["groups"]})
    learner.scheduler.load_state_dict(state["scheduler"])
    learner.scaler.load_state_dict(state["scaler"])

"""Trainings on the made blocks, from a saved model folder to the last epoch."""

from pathlib import Path

import torch
from made_lessons import MAX_ACTIONS, made_routes, made_walks
from rich.progress import Progress as Bar

from benchmarks.touchdown.train.checkpoint import Progress, latest_checkpoint, load_state
from benchmarks.touchdown.train.hyperparameters import Hyperparameters, Method
from benchmarks.touchdown.train.learner import Learner
from benchmarks.touchdown.train.loop import CHECKPOINTS, Training, steps_per_epoch
from benchmarks.touchdown.train.model import add_adapter, load_adapter, load_encoder, load_model
from benchmarks.touchdown.train.samples import Lessons

WALKS = made_walks()
ROUTES = made_routes(WALKS)


def opened(
    model: Path, out: Path, method: Method, hyperparameters: Hyperparameters, *, resume: bool = False
) -> Training:
    """A training of the eight episodes, evaluated on the same."""
    out.mkdir(exist_ok=True)
    checkpoint = latest_checkpoint(out / CHECKPOINTS) if resume else None
    base = load_model(model, "fp32", torch.device("cpu"))
    adapted = load_adapter(base, checkpoint) if checkpoint else add_adapter(base, hyperparameters)
    total = steps_per_epoch(len(ROUTES), hyperparameters) * hyperparameters.epochs
    learner = Learner(adapted, hyperparameters, total)
    progress = load_state(checkpoint, learner) if checkpoint else Progress()
    lessons = Lessons(WALKS, load_encoder(model), hyperparameters.cutoff, hyperparameters.rollout_cutoff)
    return Training(method, hyperparameters, learner, lessons, ROUTES, ROUTES, out, progress)


def run(training: Training) -> Training:
    with Bar(disable=True) as bar:
        training.run(bar)
    return training


def small(**changes: object) -> Hyperparameters:
    """Hyperparameters for a tiny model."""
    return Hyperparameters.model_validate({"max_actions": MAX_ACTIONS, "max_reply_tokens": 4} | changes)

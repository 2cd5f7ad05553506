"""One optimizer step: the loss on the actions of a batch, and what is adapted by it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional
from transformers import get_linear_schedule_with_warmup

from .hyperparameters import Hyperparameters
from .model import DTYPES, choose_precision
from .tokens import IGNORED, Sample

_SEED_STRIDE = 1_000_003  # a prime: no two seeds share the dropout of any of their first million steps


@dataclass(frozen=True, slots=True)
class Update:
    """The figures of one optimizer step."""

    loss: float
    """Mean over samples of each one's mean cross entropy of action tokens, nats."""
    accuracy: float
    """Share of the action tokens that the model held likeliest, [0, 1]."""
    learning_rate: float
    tokens: int
    """Number of tokens read in the step."""
    action_tokens: int
    """Number of action tokens learned in the step."""


class Learner:
    """A model with adapters, and the optimizer, schedule and loss scale that train it."""

    def __init__(self, model: Any, hyperparameters: Hyperparameters, total_steps: int) -> None:
        """Prepare the optimizer and its learning rates over `total_steps` steps."""
        self.model = model
        self.device: torch.device = model.device
        self.precision = choose_precision(hyperparameters.precision, self.device)
        self._seed, self._max_norm = hyperparameters.seed, hyperparameters.max_grad_norm
        self._trainable = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self.optimizer = torch.optim.AdamW(
            self._trainable, lr=hyperparameters.learning_rate, weight_decay=hyperparameters.weight_decay
        )
        self.scheduler = get_linear_schedule_with_warmup(
            self.optimizer, round(hyperparameters.warmup_ratio * total_steps), total_steps
        )
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=self.precision == "fp16")
        self.model.train()

    def update(self, samples: Iterable[Sample], count: int, step: int) -> Update:
        """Learn from the `count` samples of a batch, take optimizer step `step`, and return its figures.

        Args:
            samples: made while they are asked for, by the weights before the step.
            count: how many there are.
            step: number of the step; with the seed, it alone decides what dropout drops, so that a resumed
                training goes on as if it had not stopped.
        """
        torch.manual_seed(self._seed * _SEED_STRIDE + step)
        loss = tokens = learned = right = 0.0
        for sample in samples:
            sample_loss, sample_right = self._loss(sample)
            self.scaler.scale(sample_loss / count).backward()
            loss += float(sample_loss.detach()) / count
            right += sample_right
            tokens += len(sample.ids)
            learned += sample.learned_tokens
        rate = float(self.scheduler.get_last_lr()[0])
        self._step()
        return Update(loss, right / learned, rate, int(tokens), int(learned))

    def _loss(self, sample: Sample) -> tuple[torch.Tensor, int]:
        """Return (mean loss over the labels of a sample, number of labels predicted rightly)."""
        places = torch.tensor([place for place, label in enumerate(sample.labels) if label != IGNORED])
        labels = torch.tensor(sample.labels)[places].to(self.device)
        ids = torch.tensor([sample.ids], device=self.device)
        with self._autocast():
            before = (places - 1).to(self.device)
            logits = self.model(input_ids=ids, use_cache=False, logits_to_keep=before).logits[0]
        loss = functional.cross_entropy(logits.float(), labels)
        return loss, int((logits.argmax(-1) == labels).sum())

    def _step(self) -> None:
        """Apply the gathered gradients, clipped; an overflow skips the step."""
        self.scaler.unscale_(self.optimizer)
        torch.nn.utils.clip_grad_norm_(self._trainable, self._max_norm)
        scale = self.scaler.get_scale()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)
        if self.scaler.get_scale() >= scale:  # else the gradients overflowed, and no step was taken
            self.scheduler.step()

    @contextmanager
    def walking_mode(self) -> Iterator[None]:
        """Put the model in evaluation mode for the block, in the training's precision."""
        self.model.eval()
        try:
            with self._autocast():
                yield
        finally:
            self.model.train()

    def _autocast(self) -> torch.autocast:
        """Return the context in which the model computes in the training's precision."""
        return torch.autocast(
            self.device.type, dtype=DTYPES[self.precision], enabled=self.precision != "fp32"
        )

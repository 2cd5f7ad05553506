"""The numbers of a fine-tuning, each with its source.

Sources: *paper* is VELMA (Schumann et al. 2024), section 6.4 and appendix A; *code* is what it published.
"""

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import Field, model_validator

from virl.errors import BadInput
from virl.settings.model import Settings, check_settings, yaml_value

Method = Literal["ft", "rbl"]
Precision = Literal["auto", "fp32", "bf16", "fp16"]


class Hyperparameters(Settings):
    """The hyperparameters of fine-tuning; defaults are the paper's where it names them."""

    learning_rate: float = Field(3e-4, gt=0)
    """Peak of AdamW's learning rate (paper, appendix A)."""
    warmup_ratio: float = Field(0.1, ge=0, le=1)
    """Share of all steps in which the rate rises from 0; from there it falls linearly to 0 (appendix A)."""
    weight_decay: float = Field(0.0, ge=0)
    """Weight decay of AdamW; 0 is the Adam that the paper names (appendix A)."""
    max_grad_norm: float = Field(1.0, gt=0)
    """Norm to which larger gradients are scaled down (chosen: default of transformers' Trainer)."""
    batch_size: int = Field(16, ge=1)
    """Number of samples in an optimizer step (appendix A), run singly and accumulated (code)."""
    epochs: int = Field(20, ge=1)
    """Number of passes over the training split (appendix A)."""
    cutoff: int = Field(2048, ge=16)
    """Number of tokens beyond which a sample is cut (code)."""

    lora_rank: int = Field(8, ge=1)
    """Rank of the LoRA adapters (appendix A)."""
    lora_alpha: float = Field(16, gt=0)
    """Scale of the LoRA adapters, which is divided by the rank (appendix A)."""
    lora_dropout: float = Field(0.05, ge=0, lt=1)
    """Dropout rate in front of the LoRA adapters (appendix A)."""
    lora_modules: tuple[str, ...] = Field(("q_proj", "v_proj"), min_length=1)
    """Modules that get adapters (appendix A and code; section 6.4 names further ones)."""

    mixing: float = Field(0.5, ge=0, le=1)
    """Lambda of Algorithm 1: how likely a sample is student-forced; used by `rbl` only (section 6.4)."""
    rollout_cutoff: int = Field(1560, ge=16)
    """Tokens beyond which the model's own walk is dropped for the gold one; used by `rbl` only (code)."""

    max_actions: int = Field(55, ge=1)
    """Most actions of an episode, an opening one included (code)."""
    max_reply_tokens: int = Field(8, ge=1)
    """Most tokens of a reply (chosen: `turn_around` has 3 to 4 in LLaMA's tokenizers)."""
    precision: Precision = "auto"
    """Mixed precision: `auto` is bf16 on a GPU that has it, else fp16, as in the code; fp32 on a CPU."""
    save_every: int = Field(50, ge=1)
    """Optimizer steps between checkpoints; there is one at the end of each epoch too (chosen)."""
    seed: int = Field(0, ge=0)
    """Seed of the order of samples, the mixing, dropout and the adapter's first weights."""

    @model_validator(mode="after")
    def _rollouts_fit(self) -> Self:
        """Return the settings; raise ValueError if `rollout_cutoff` is above `cutoff`."""
        if self.rollout_cutoff > self.cutoff:
            raise ValueError(f"rollout_cutoff {self.rollout_cutoff} is above cutoff {self.cutoff}")
        return self


def read_overrides(assignments: Sequence[str]) -> Hyperparameters:
    """Return the defaults with overrides written as NAME=VALUE in YAML, such as `"epochs=3"`.

    Raises:
        BadInput: an assignment has no `=`, a name is unknown, or a value is out of its range.
    """
    values: dict[str, object] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise BadInput(f"--set {assignment!r}: write it as NAME=VALUE, such as epochs=3")
        values[name.strip()] = yaml_value(text, source=f"--set {assignment}")
    return check_settings(values, Hyperparameters, source="--set")

"""The model that is fine-tuned: a causal language model with LoRA adapters, loaded from a folder."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors import SafetensorError
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging

from virl.errors import BadInput, ModelUnavailable

from .hyperparameters import Hyperparameters, Precision
from .tokens import Encoder

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def choose_precision(precision: Precision, device: torch.device) -> Precision:
    """Return the precision itself, or for `auto` the best that the device supports."""
    if precision != "auto":
        return precision
    if device.type != "cuda":
        return "fp32"
    return "bf16" if torch.cuda.is_bf16_supported() else "fp16"


def choose_device(name: str) -> torch.device:
    """Return the device with this name, such as `"cuda:1"`; `auto` is a GPU if there is one.

    Raises:
        BadInput: there is no such device.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as fault:
        raise BadInput(f"--device {name!r}: no such device on this machine") from fault
    return device


def load_encoder(folder: Path) -> Encoder:
    """Return the tokenizer in a model's folder.

    Raises:
        ModelUnavailable: there is none, or it gives no offsets.
    """
    _refuse_missing(folder)
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)  # nosec B615
    except (OSError, ValueError, KeyError) as fault:
        raise ModelUnavailable(f"{folder}: contains no tokenizer that transformers can read") from fault
    return Encoder(tokenizer)


def load_model(folder: Path, precision: Precision, device: torch.device) -> Any:
    """Return the causal language model in a folder, in this precision, on the device.

    Args:
        folder: of the model.
        precision: of the weights.
        device: where they are loaded.

    Raises:
        ModelUnavailable: the folder holds no causal language model in safetensors files.
    """
    _refuse_missing(folder)
    try:
        with _quiet():
            model = AutoModelForCausalLM.from_pretrained(  # nosec B615
                folder, dtype=DTYPES[precision], local_files_only=True, use_safetensors=True
            )
    except (OSError, ValueError, KeyError) as fault:
        reason = str(fault).strip().split("\n")[0]
        raise ModelUnavailable(
            f"{folder}: no causal language model in safetensors files ({reason})"
        ) from fault
    return model.to(device)


def add_adapter(model: Any, hyperparameters: Hyperparameters) -> Any:
    """Return the model frozen, with new LoRA adapters, the only part that is trained.

    Raises:
        BadInput: the model has no modules of the names in `lora_modules`.
    """
    torch.manual_seed(hyperparameters.seed)
    config = LoraConfig(
        task_type="CAUSAL_LM",
        r=hyperparameters.lora_rank,
        lora_alpha=hyperparameters.lora_alpha,
        lora_dropout=hyperparameters.lora_dropout,
        target_modules=list(hyperparameters.lora_modules),
        bias="none",
    )
    try:
        with _quiet():
            return get_peft_model(model, config)
    except ValueError as fault:
        wanted = ", ".join(hyperparameters.lora_modules)
        raise BadInput(f"lora_modules: the model has no modules {wanted}") from fault


def load_adapter(model: Any, folder: Path) -> Any:
    """Return the model with the adapters saved in a folder, ready to be trained further."""
    with _quiet():
        return PeftModel.from_pretrained(model, folder, is_trainable=True, local_files_only=True)


def save_adapter(model: Any, folder: Path) -> None:
    """Write the adapters of a model into a folder, as `adapter_model.safetensors` and its config.

    Raises:
        OSError: the disk refuses.
    """
    with saving_tensors():
        model.save_pretrained(folder, safe_serialization=True, save_embedding_layers=False)


@contextmanager
def saving_tensors() -> Iterator[None]:
    """Raise OSError in place of what safetensors raises in the block, as on a full disk.

    Raises:
        OSError: safetensors could not write.
    """
    try:
        yield
    except SafetensorError as fault:
        raise OSError(str(fault)) from fault


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence transformers' progress bars, and a warning on an attribute that peft still reads."""
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "`is_gradient_checkpointing` is deprecated", FutureWarning)
            yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _refuse_missing(folder: Path) -> None:
    """Raise ModelUnavailable for a folder that holds no model."""
    if not (folder / "config.json").is_file():
        raise ModelUnavailable(
            f"{folder}: contains no model: give a folder with config.json, weights and tokenizer"
        )

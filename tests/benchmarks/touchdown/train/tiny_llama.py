"""A tiny LLaMA with random weights and a tokenizer made on the spot, saved as a real model folder is."""

from collections.abc import Iterable
from pathlib import Path

import needs_train  # noqa: F401 - first of all
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

torch.set_num_threads(1)  # the models are small, and other tests run beside

VOCABULARY = 700
UNKNOWN, BEGIN, END = "<unk>", "<s>", "</s>"


def byte_level(texts: Iterable[str], *, vocabulary: int = VOCABULARY) -> PreTrainedTokenizerFast:
    """Byte-level BPE, as GPT-2 and LLaMA 3 have it."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[BEGIN, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    return _trained(tokenizer, trainer, texts)


def metaspace(texts: Iterable[str], *, vocabulary: int = VOCABULARY) -> PreTrainedTokenizerFast:
    """SentencePiece-like BPE with bytes to fall back on, as LLaMA 1 and 2 have it."""
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split("\n", "isolated"), pre_tokenizers.Metaspace(prepend_scheme="first")]
    )
    tokenizer.decoder = decoders.Sequence(
        [decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="first"), decoders.Fuse()]
    )
    bytes_ = [f"<0x{value:02X}>" for value in range(256)]
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary + 256, special_tokens=[UNKNOWN, BEGIN, END, *bytes_], show_progress=False
    )
    return _trained(tokenizer, trainer, texts)


def characters(texts: Iterable[str]) -> PreTrainedTokenizerFast:
    """One token a character."""
    tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN))
    tokenizer.decoder = decoders.Fuse()
    trainer = trainers.BpeTrainer(vocab_size=0, special_tokens=[UNKNOWN, BEGIN, END], show_progress=False)
    return _trained(tokenizer, trainer, texts)


def whole_lines(texts: Iterable[str]) -> PreTrainedTokenizerFast:
    """Tokens that hold a number, its action and the line's end: `"12. left\\n"` is one."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split("\n", "merged_with_previous"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=5000,
        special_tokens=[BEGIN, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    return _trained(tokenizer, trainer, texts)


def _trained(
    tokenizer: Tokenizer, trainer: trainers.BpeTrainer, texts: Iterable[str]
) -> PreTrainedTokenizerFast:
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=BEGIN, eos_token=END)


def save_tiny_llama(
    folder: Path, tokenizer: PreTrainedTokenizerFast, *, hidden: int = 64, layers: int = 2, seed: int = 0
) -> Path:
    """A model folder: config, safetensors, tokenizer."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        intermediate_size=2 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=2048,
        initializer_range=0.05,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        model.lm_head.weight.mul_(
            6
        )  # its output stays as it is: small weights could never be sure of a token
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder

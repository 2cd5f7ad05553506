"""Tokenizers with the special tokens and rules of the true ones, and a vocabulary of a few words."""

import json
from pathlib import Path
from typing import Any

WORDS = ["trash", "bin", "bench", "fire", "hydrant", "traffic", "light", "jewelry", "store", "door", "##s"]


def bert_vocabulary(folder: Path) -> Path:
    """A file of words and letters, with BERT's special tokens."""
    letters = [letter for one in "abcdefghijklmnopqrstuvwxyz" for letter in (one, f"##{one}")]
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", "?", ",", *WORDS, *letters]
    file = folder / "vocab.txt"
    file.write_text("\n".join(dict.fromkeys(tokens)), encoding="utf-8")
    return file


def bert_tokenizer(folder: Path) -> Any:
    """A tokenizer of words, with BERT's special tokens and rules."""
    from transformers import BertTokenizer

    return BertTokenizer(vocab=str(bert_vocabulary(folder)), do_lower_case=True)


def clip_tokenizer(folder: Path) -> Any:
    """A tokenizer of letters, with CLIP's special tokens and rules."""
    from transformers import CLIPTokenizer

    letters = [chr(code) for code in range(33, 127)]
    tokens = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    vocabulary, merges = folder / "vocab.json", folder / "merges.txt"
    vocabulary.write_text(json.dumps({token: i for i, token in enumerate(tokens)}), encoding="utf-8")
    merges.write_text("#version: 0.2\n", encoding="utf-8")
    return CLIPTokenizer(vocab=str(vocabulary), merges=str(merges))

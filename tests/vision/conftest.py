"""Tiny checkpoints with random weights, written to disk as the true ones are."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_tokenizers import bert_tokenizer, clip_tokenizer

from virl.platform.city.streetview import Camera, Image, View

MakeView = Callable[..., View]


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    if find_spec("torch"):
        import torch

        torch.set_num_threads(1)


def _picture(seed: int, height: int = 96, width: int = 128) -> Image:
    """Coloured blocks, different for each seed."""
    blocks = np.random.default_rng(seed).integers(0, 256, (4, 4, 3), dtype=np.uint8)
    rows = np.arange(height)[:, None] * 4 // height
    return blocks[rows, np.arange(width)[None] * 4 // width]


@pytest.fixture(scope="session")
def make_view() -> MakeView:
    def make(seed: int = 0, height: int = 96, width: int = 128) -> View:
        return View(f"p{seed}", Camera(0, 0, 60, width, height), _picture(seed, height, width))

    return make


@pytest.fixture(scope="session")
def grounding_dino(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Grounding DINO of 20 boxes."""
    import torch
    from transformers import (
        BertConfig,
        GroundingDinoConfig,
        GroundingDinoForObjectDetection,
        GroundingDinoImageProcessor,
        GroundingDinoProcessor,
        SwinConfig,
    )

    folder = tmp_path_factory.mktemp("grounding-dino")
    tokenizer = bert_tokenizer(folder)
    torch.manual_seed(0)
    config = GroundingDinoConfig(
        backbone_config=SwinConfig(
            image_size=64,
            embed_dim=8,
            depths=[1, 1, 1, 1],
            num_heads=[1, 1, 2, 2],
            window_size=4,
            out_features=["stage2", "stage3", "stage4"],
        ),
        text_config=BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=32,
        ),
        d_model=32,
        encoder_layers=1,
        decoder_layers=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        num_queries=20,
        init_std=0.5,
    )
    GroundingDinoForObjectDetection(config).save_pretrained(folder)
    images = GroundingDinoImageProcessor(size={"shortest_edge": 96, "longest_edge": 144})
    GroundingDinoProcessor(images, tokenizer).save_pretrained(folder)
    return folder


def _owl(folder: Path, config: Any, model: Any, images: Any, processor: Any) -> Path:
    import torch

    tokenizer = clip_tokenizer(folder)
    torch.manual_seed(0)
    small = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    ends = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    text = {**small, **ends, "vocab_size": len(tokenizer), "max_position_embeddings": 40, "pad_token_id": 0}
    made = model(
        config(
            text_config=text,
            vision_config={**small, "image_size": 64, "patch_size": 16},
            projection_dim=32,
        )
    )
    for name, weights in made.named_parameters():  # as made, all scores are nearly the same
        if weights.ndim > 1:
            torch.nn.init.normal_(weights, std=0.15 if "box_head" in name else 0.5)
    made.save_pretrained(folder)
    tokenizer.model_max_length = 40
    processor(images(size={"height": 64, "width": 64}), tokenizer).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def owlv2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An OWLv2 of 16 boxes."""
    import transformers as hf

    folder = tmp_path_factory.mktemp("owlv2")
    return _owl(folder, hf.Owlv2Config, hf.Owlv2ForObjectDetection, hf.Owlv2ImageProcessor, hf.Owlv2Processor)


@pytest.fixture(scope="session")
def owlvit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An OWL-ViT of 16 boxes."""
    import transformers as hf

    folder = tmp_path_factory.mktemp("owlvit")
    images, processor = hf.OwlViTImageProcessor, hf.OwlViTProcessor
    return _owl(folder, hf.OwlViTConfig, hf.OwlViTForObjectDetection, images, processor)

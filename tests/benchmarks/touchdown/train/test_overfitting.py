"""A tiny LLaMA of random weights learns eight episodes by heart, and walks them."""

import json
from pathlib import Path

import needs_train  # noqa: F401 - first of all
import pytest
import torch
from made_lessons import gold_texts
from made_training import ROUTES, WALKS, opened, run, small
from tiny_llama import byte_level, save_tiny_llama

from benchmarks.touchdown.train.loop import BEST, evaluate
from benchmarks.touchdown.train.metrics import read_metrics
from benchmarks.touchdown.train.model import load_adapter, load_encoder, load_model
from benchmarks.touchdown.train.writer import GreedyWriter

pytestmark = pytest.mark.slow

EVERYTHING = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
BOLD = {
    "batch_size": 1,
    "learning_rate": 3e-3,
    "lora_rank": 16,
    "lora_alpha": 32,
    "lora_dropout": 0.0,
    "lora_modules": EVERYTHING,
    "save_every": 1000,
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_llama(tmp_path_factory.mktemp("llama"), byte_level(gold_texts(WALKS, ROUTES)), layers=3)


def test_gold_walks_are_learned_and_the_best_adapter_walks_them_again(model: Path, tmp_path: Path) -> None:
    training = run(opened(model, tmp_path, "ft", small(epochs=32, **BOLD)))
    assert training.progress.best_tc == 1.0
    scores = [line for line in read_metrics(tmp_path) if line["kind"] == "dev"]
    assert scores[0]["tc"] < 0.5
    assert scores[-1]["invalid"] == 0

    adapted = load_adapter(load_model(model, "fp32", torch.device("cpu")), tmp_path / BEST).eval()
    writer = GreedyWriter(adapted, load_encoder(model), max_reply_tokens=4, max_tokens=2048)
    found, rollouts = evaluate(WALKS, ROUTES, writer)
    assert found.tc == 1.0
    assert found.stopped == len(ROUTES)
    kept = json.loads((tmp_path / BEST / "evaluation.json").read_text())
    assert kept["epoch"] == training.progress.best_epoch
    assert list(kept["actions"].values()) == [rollout.actions for rollout in rollouts]


def test_its_own_walks_are_learned_from_as_well(model: Path, tmp_path: Path) -> None:
    training = run(opened(model, tmp_path, "rbl", small(epochs=20, seed=1, **BOLD)))
    assert training.progress.best_tc >= 0.5  # it has half the gold walks, and comes to 1 in twice the epochs
    updates = [line for line in read_metrics(tmp_path) if line["kind"] == "update"]
    first, last = updates[: len(updates) // 2], updates[len(updates) // 2 :]
    own = [sum(line["sources"].get("own", 0) for line in half) for half in (first, last)]
    assert own[1] > own[0]  # its walks come to be right
    forced = sum(line["sources"].get("gold", 0) for line in updates) / len(updates)
    assert 0.35 < forced < 0.65  # lambda is 0.5

"""A training that was killed and resumed is the training that was not killed, to the last bit."""

from pathlib import Path

import needs_train  # noqa: F401 - first of all
import pytest
import torch
from full_disk import full_disk
from made_lessons import gold_texts
from made_training import ROUTES, WALKS, opened, run, small
from safetensors.torch import load_file
from tiny_llama import byte_level, save_tiny_llama

from benchmarks.touchdown.train.checkpoint import latest_checkpoint
from benchmarks.touchdown.train.learner import Learner
from benchmarks.touchdown.train.loop import BEST, CHECKPOINTS, CURVES
from benchmarks.touchdown.train.metrics import read_metrics
from virl.errors import BadInput, CannotWrite

pytestmark = pytest.mark.slow

HYPERPARAMETERS = small(epochs=3, batch_size=3, learning_rate=5e-3, save_every=2, lora_dropout=0.2)
STEPS = 9  # three an epoch


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_llama(tmp_path_factory.mktemp("llama"), byte_level(gold_texts(WALKS, ROUTES)), hidden=32)


@pytest.fixture(scope="module", params=["ft", "rbl"])
def whole(
    request: pytest.FixtureRequest, model: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path]:
    out = tmp_path_factory.mktemp(f"whole-{request.param}")
    run(opened(model, out, request.param, HYPERPARAMETERS))
    return request.param, out


class Killed(BaseException):
    """What ends a process at once."""


def kill_after(updates: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The update after so many ends halfway: gradients are there, the step is not taken."""
    done = [0]
    step = Learner._step

    def counted(learner: Learner) -> None:
        if done[0] == updates:
            raise Killed
        done[0] += 1
        step(learner)

    monkeypatch.setattr(Learner, "_step", counted)


def told(out: Path) -> list[dict[str, object]]:
    """The metrics without what the clock says."""
    clock = {"seconds", "tokens_per_second", "peak_memory_mib"}
    return [{name: value for name, value in line.items() if name not in clock} for line in read_metrics(out)]


def tensors(out: Path, name: str) -> dict[str, object]:
    checkpoint = latest_checkpoint(out / CHECKPOINTS)
    assert checkpoint is not None
    return load_file(checkpoint / name)


@pytest.mark.parametrize("updates", [1, 4, 7])
def test_killed_and_resumed_is_not_killed(
    whole: tuple[str, Path], model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, updates: int
) -> None:
    method, expected = whole
    with monkeypatch.context() as patch:
        kill_after(updates, patch)
        with pytest.raises(Killed):
            run(opened(model, tmp_path, method, HYPERPARAMETERS))
    resumed = run(opened(model, tmp_path, method, HYPERPARAMETERS, resume=True))
    assert resumed.progress.step == STEPS
    assert told(tmp_path) == told(expected)
    for name in ("adapter_model.safetensors", "optimizer.safetensors"):
        found = tensors(tmp_path, name)
        wanted = tensors(expected, name)
        assert found.keys() == wanted.keys()
        assert all(torch.equal(found[key], wanted[key]) for key in wanted), name
    assert (tmp_path / BEST / "evaluation.json").read_text() == (
        expected / BEST / "evaluation.json"
    ).read_text()


def test_only_the_last_checkpoint_stays_and_holds_nothing_pickled(whole: tuple[str, Path]) -> None:
    _, out = whole
    (checkpoint,) = (out / CHECKPOINTS).iterdir()
    assert checkpoint.name == "step-0000009"
    assert {path.suffix for path in checkpoint.iterdir()} <= {".json", ".safetensors", ".md"}
    assert (out / CURVES).read_text().startswith("<svg")


def test_both_kinds_of_forcing_took_place(whole: tuple[str, Path]) -> None:
    method, out = whole
    sources = [source for line in read_metrics(out) if line["kind"] == "update" for source in line["sources"]]
    assert set(sources) >= ({"gold", "oracle"} if method == "rbl" else {"gold"})
    assert method == "rbl" or set(sources) == {"gold"}


def test_a_checkpoint_half_written_is_passed_over_and_a_damaged_one_is_named(
    model: Path, tmp_path: Path
) -> None:
    run(opened(model, tmp_path, "ft", HYPERPARAMETERS.model_copy(update={"epochs": 1})))
    checkpoint = latest_checkpoint(tmp_path / CHECKPOINTS)
    assert checkpoint is not None
    (tmp_path / CHECKPOINTS / "step-0000099.part").mkdir()
    assert latest_checkpoint(tmp_path / CHECKPOINTS) == checkpoint
    (checkpoint / "optimizer.safetensors").write_bytes(b"\x80\x04K\x01.")
    with pytest.raises(BadInput, match="is damaged"):
        opened(model, tmp_path, "ft", HYPERPARAMETERS, resume=True)


def test_a_full_disk_keeps_the_checkpoint_before_and_is_one_line(
    whole: tuple[str, Path], model: Path, tmp_path: Path
) -> None:
    method, expected = whole
    with full_disk(2_000), pytest.raises(CannotWrite, match=r"cannot write .*go on with --resume|resume"):
        run(opened(model, tmp_path, method, HYPERPARAMETERS))
    found = latest_checkpoint(tmp_path / CHECKPOINTS)
    assert found is None or load_file(found / "adapter_model.safetensors")
    run(opened(model, tmp_path, method, HYPERPARAMETERS, resume=True))
    assert told(tmp_path) == told(expected)

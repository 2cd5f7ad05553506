"""One optimizer step: which weights it changes, by which loss, at which rate."""

from pathlib import Path

import needs_train  # noqa: F401 - first of all
import pytest
import torch
from made_lessons import gold_texts, made_lessons, made_routes, made_walks
from tiny_llama import byte_level, save_tiny_llama

from benchmarks.touchdown.train.hyperparameters import Hyperparameters
from benchmarks.touchdown.train.learner import Learner
from benchmarks.touchdown.train.model import add_adapter, choose_device, choose_precision, load_model
from benchmarks.touchdown.train.tokens import Sample
from virl.errors import BadInput, ModelUnavailable

pytestmark = pytest.mark.slow

WALKS = made_walks()
ROUTES = made_routes(WALKS)
LESSONS = made_lessons(WALKS, ROUTES)
SAMPLES = [LESSONS.gold(route) for route in ROUTES]
STILL = Hyperparameters(lora_dropout=0.0, warmup_ratio=0.0)
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_llama(tmp_path_factory.mktemp("llama"), byte_level(gold_texts(WALKS, ROUTES)))


def learner_of(folder: Path, hyperparameters: Hyperparameters = STILL, total_steps: int = 10) -> Learner:
    return Learner(
        add_adapter(load_model(folder, "fp32", CPU), hyperparameters), hyperparameters, total_steps
    )


def test_only_the_adapters_of_the_query_and_value_projections_are_trained(folder: Path) -> None:
    learner = learner_of(folder)
    before = {name: weights.detach().clone() for name, weights in learner.model.named_parameters()}
    for step in range(3):
        learner.update(SAMPLES[:2], 2, step)
    changed = {
        name for name, weights in learner.model.named_parameters() if not torch.equal(weights, before[name])
    }
    adapters = {
        f"base_model.model.model.layers.{layer}.self_attn.{module}.lora_{side}.default.weight"
        for layer in range(2)
        for module in ("q_proj", "v_proj")
        for side in "AB"
    }
    assert changed == adapters
    assert {name for name, weights in learner.model.named_parameters() if weights.requires_grad} == adapters
    config = learner.model.peft_config["default"]
    assert (config.r, config.lora_alpha, config.bias) == (8, 16, "none")


def full_loss(learner: Learner, sample: Sample) -> float:
    """As transformers computes it from ids and labels."""
    output = learner.model(input_ids=torch.tensor([sample.ids]), labels=torch.tensor([sample.labels]))
    return float(output.loss.detach())


def test_the_loss_is_that_of_transformers_averaged_over_the_samples(folder: Path) -> None:
    learner = learner_of(folder)
    expected = [full_loss(learner, sample) for sample in SAMPLES[:3]]
    update = learner.update(SAMPLES[:3], 3, 0)
    assert update.loss == pytest.approx(sum(expected) / 3, rel=1e-5)
    assert update.tokens == sum(len(sample.ids) for sample in SAMPLES[:3])
    assert update.action_tokens == sum(sample.learned_tokens for sample in SAMPLES[:3])


def test_other_tokens_teach_nothing(folder: Path) -> None:
    """A label changed changes the step; an unlabelled token that comes after every action does not."""

    def stepped(sample: Sample) -> dict[str, object]:
        learner = learner_of(folder)
        learner.update([sample], 1, 1)
        return {
            name: weights.detach()
            for name, weights in learner.model.named_parameters()
            if weights.requires_grad
        }

    sample = SAMPLES[0]
    longer = Sample([*sample.ids, 7, 8, 9], [*sample.labels, -100, -100, -100])
    other = Sample(sample.ids, [*sample.labels[:-1], 7])
    base = stepped(sample)
    assert all(torch.allclose(weights, base[name], atol=1e-7) for name, weights in stepped(longer).items())
    assert not all(torch.allclose(weights, base[name], atol=1e-7) for name, weights in stepped(other).items())


def test_the_rate_rises_over_the_warm_up_and_falls_to_nothing(folder: Path) -> None:
    learner = learner_of(folder, STILL.model_copy(update={"warmup_ratio": 0.4}), total_steps=10)
    rates = [learner.update(SAMPLES[:1], 1, step).learning_rate for step in range(10)]
    assert rates == pytest.approx(
        [3e-4 * share for share in (0, 1 / 4, 2 / 4, 3 / 4, 1, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6)]
    )
    assert learner.scheduler.get_last_lr() == [0.0]


def test_walking_is_without_dropout_and_training_goes_on_with_it(folder: Path) -> None:
    learner = learner_of(folder, Hyperparameters())
    assert learner.model.training
    with learner.walking_mode():
        assert not learner.model.training
    assert learner.model.training


def test_bf16_runs_where_it_is_asked_for(folder: Path) -> None:
    wanted = STILL.model_copy(update={"precision": "bf16"})
    model = add_adapter(load_model(folder, "bf16", CPU), wanted)
    learner = Learner(model, wanted, 10)
    assert {weights.dtype for weights in model.parameters() if weights.requires_grad} == {torch.float32}
    assert {weights.dtype for weights in model.parameters() if not weights.requires_grad} == {torch.bfloat16}
    losses = [learner.update(SAMPLES[:2], 2, step).loss for step in range(6)]
    assert losses[-1] < losses[0]


def test_what_cannot_be_loaded_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="contains no model"):
        load_model(tmp_path, "fp32", CPU)
    (tmp_path / "config.json").write_bytes((folder / "config.json").read_bytes())
    with pytest.raises(ModelUnavailable, match="safetensors") as caught:
        load_model(tmp_path, "fp32", CPU)
    assert "\n" not in str(caught.value)
    with pytest.raises(BadInput, match="no modules nothing_proj"):
        learner_of(folder, STILL.model_copy(update={"lora_modules": ("nothing_proj",)}))
    with pytest.raises(BadInput, match="no such device"):
        choose_device("abacus")
    assert choose_precision("auto", CPU) == "fp32"

import pytest

from benchmarks.touchdown.train.hyperparameters import Hyperparameters, read_overrides
from virl.errors import BadInput


def test_the_defaults_are_those_of_the_paper() -> None:
    told = Hyperparameters()
    assert (told.lora_rank, told.lora_alpha, told.lora_dropout) == (8, 16, 0.05)
    assert told.lora_modules == ("q_proj", "v_proj")
    assert (told.learning_rate, told.warmup_ratio, told.batch_size, told.epochs) == (3e-4, 0.1, 16, 20)
    assert (told.cutoff, told.rollout_cutoff, told.mixing, told.max_actions) == (2048, 1560, 0.5, 55)


def test_overrides_are_yaml_values() -> None:
    told = read_overrides(["epochs=3", "lora_modules=[q_proj, k_proj]", "precision=bf16", "mixing=0.25"])
    assert told.epochs == 3
    assert told.lora_modules == ("q_proj", "k_proj")
    assert told.precision == "bf16"
    assert told.mixing == 0.25
    assert told.batch_size == 16


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("epochs", "NAME=VALUE"),
        ("epoch=3", "--set: epoch: unknown field; did you mean 'epochs'"),
        ("epochs=0", "epochs: must be at least 1, not 0"),
        ("mixing=2", "mixing: "),
        ("epochs=[", "not valid YAML"),
        ("rollout_cutoff=4000", "rollout_cutoff 4000 is above cutoff 2048"),
    ],
)
def test_a_bad_override_is_named_in_one_line(assignment: str, message: str) -> None:
    with pytest.raises(BadInput, match=message) as caught:
        read_overrides([assignment])
    assert "\n" not in str(caught.value)

"""`python -m benchmarks.touchdown.train`, as a user starts it."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from benchmarks.touchdown.train import __main__ as command
from virl import extras

SMALL = Path(__file__).parents[3] / "data" / "virlton-small"


def start(*arguments: object) -> Result:
    app = typer.Typer()
    app.command()(command.main)
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def said(result: Result) -> str:
    """The one line of a user's error."""
    assert result.exit_code == 2, result.output
    (line,) = result.stderr.strip().splitlines()
    return line


def test_without_the_extra_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    line = said(start("--method", "ft", "--model", tmp_path, "--out", tmp_path / "out"))
    assert line == "virl: fine-tuning needs torch and transformers and peft: pip install 'virl[train]'"


def test_an_unknown_hyperparameter_is_named_before_anything_is_loaded(tmp_path: Path) -> None:
    line = said(start("--method", "ft", "--model", tmp_path, "--out", tmp_path / "out", "--set", "rank=4"))
    assert "--set: rank: unknown field" in line


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import needs_train  # noqa: F401 - first of all
    from made_lessons import gold_texts, made_routes, made_walks
    from tiny_llama import byte_level, save_tiny_llama

    walks = made_walks()
    texts = gold_texts(walks, made_routes(walks))
    return save_tiny_llama(tmp_path_factory.mktemp("llama"), byte_level(texts), hidden=32)


def training(model: Path, out: Path, *more: object, method: str = "rbl", data: Path = SMALL) -> list[object]:
    return [
        *("--method", method, "--model", model, "--out", out, "--data", data, "--train-split", "dev"),
        *("--train-limit", 4, "--dev-limit", 2, "--device", "cpu"),
        *(
            "--set",
            "epochs=2",
            "--set",
            "batch_size=3",
            "--set",
            "mixing=1",
            "--set",
            "max_reply_tokens=4",
            *more,
        ),
    ]


@pytest.mark.slow
def test_a_training_leaves_its_results_and_can_be_gone_on_with(model: Path, tmp_path: Path) -> None:
    arguments = training(model, tmp_path / "out")
    result = start(*arguments)
    assert result.exit_code == 0, result.output
    assert "results:" in result.output
    out = tmp_path / "out"
    told = json.loads((out / "results.json").read_text())
    assert told["settings"]["hyperparameters"]["lora_rank"] == 8
    assert told["steps"] == 4
    assert sum(told["samples"].values()) == 8
    assert set(told["samples"]) <= {"own", "oracle", "too_long"}
    assert told["episodes"] == {"train": 4, "dev": 2}
    assert told["versions"].keys() >= {"virl", "torch", "transformers", "peft"}
    assert told["parameters"]["trained"] == 2 * 2 * 2 * 8 * 32
    assert told["last"]["episodes"] == 2
    assert told["tokens_per_second"]["training"] > 0
    assert (out / "best" / "adapter_model.safetensors").is_file()
    assert (out / "curves.svg").is_file()

    assert "already contains a training: continue it with --resume" in said(start(*arguments))
    assert "the settings differ (hyperparameters)" in said(start(*arguments, "--resume", "--set", "epochs=3"))
    before = (out / "metrics.jsonl").read_bytes()
    assert start(*arguments, "--resume").exit_code == 0  # there is nothing left to do
    assert (out / "metrics.jsonl").read_bytes() == before
    assert json.loads((out / "results.json").read_text()) == told


@pytest.mark.slow
def test_a_training_that_could_not_begin_does_not_stand_in_the_way(model: Path, tmp_path: Path) -> None:
    arguments = training(model, tmp_path / "out", "--set", "epochs=1", method="ft")
    assert "no modules x_proj" in said(start(*arguments, "--set", "lora_modules=[x_proj]"))
    assert start(*arguments).exit_code == 0


@pytest.mark.slow
def test_touchdown_episodes_are_told_the_flow_of_traffic(model: Path, tmp_path: Path) -> None:
    result = start(*training(model, tmp_path / "out", "--dataset", "touchdown", method="ft"))
    assert result.exit_code == 0, result.output
    assert json.loads((tmp_path / "out" / "results.json").read_text())["samples"] == {"gold": 8}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("--model", "nowhere"), "nowhere: contains no model"),
        (("--data", "nowhere"), "no touchdown data in nowhere"),
        (("--train-split", "train"), "train.jsonl: no such file of episodes"),
        (("--device", "abacus"), "no such device"),
        (("--features", "views.npz"), "--features and --statistics go together"),
        (("--set", "cutoff=20", "--set", "rollout_cutoff=20"), "none of its 4 episodes can be used"),
    ],
)
def test_what_is_missing_is_named_in_one_line(
    model: Path, tmp_path: Path, change: tuple[str, ...], message: str
) -> None:
    assert message in said(start(*training(model, tmp_path / "out"), *change))


@pytest.mark.slow
def test_an_episode_that_cannot_be_walked_is_listed_with_its_reason(model: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    episodes = data / "map2seq_unseen"
    episodes.mkdir(parents=True)
    (data / "graph").symlink_to(SMALL / "graph")
    lines = (SMALL / "map2seq_unseen" / "dev.jsonl").read_text().splitlines()[:4]
    broken = json.loads(lines[1])
    broken["route_panoids"] = [broken["route_panoids"][0], broken["route_panoids"][5]]
    endless = json.loads(lines[2])
    endless["navigation_text"] = "walk on " * 5000
    (episodes / "dev.jsonl").write_text(
        "\n".join([lines[0], json.dumps(broken), json.dumps(endless), lines[3], ""])
    )
    result = start(*training(model, tmp_path / "out", data=data))
    assert result.exit_code == 0, result.output
    skipped = json.loads((tmp_path / "out" / "results.json").read_text())["skipped"]["train"]
    assert set(skipped) == {str(broken["id"]), str(endless["id"])}
    assert "no link" in skipped[str(broken["id"])]
    assert "10,000 words" in skipped[str(endless["id"])]
    assert "2 episodes skipped" in result.output

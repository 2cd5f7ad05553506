"""`python -m benchmarks.touchdown.train`: fine-tunes a language model to walk."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from virl.cli.guard import add_guard
from virl.console import SafeConsole
from virl.extras import require
from virl.platform.providers.graph.touchdown import Dataset

from .hyperparameters import Method, read_overrides


@add_guard()
def main(
    method: Annotated[
        Method,
        typer.Option(help="ft: train on gold walks. rbl: also on the model's own walks (Algorithm 1)."),
    ],
    model: Annotated[Path, typer.Option(help="Folder of a causal language model.", file_okay=False)],
    out: Annotated[Path, typer.Option(help="Folder for checkpoints and results.", file_okay=False)],
    data: Annotated[
        Path | None, typer.Option(help="Folder of the data. By default, your installed data.")
    ] = None,
    dataset: Annotated[Dataset, typer.Option(help="Data set.")] = "map2seq",
    scenario: Annotated[Literal["unseen", "seen"], typer.Option(help="Scenario.")] = "unseen",
    train_split: Annotated[str, typer.Option(help="Split to train on.")] = "train",
    dev_split: Annotated[str, typer.Option(help="Split to select the best epoch on.")] = "dev",
    train_limit: Annotated[
        int | None, typer.Option(help="Train on the first N episodes only.", min=1)
    ] = None,
    dev_limit: Annotated[
        int | None, typer.Option(help="Evaluate on the first N episodes only.", min=1)
    ] = None,
    override: Annotated[
        list[str] | None,
        typer.Option("--set", help="Set a hyperparameter, such as epochs=3. Can be repeated."),
    ] = None,
    features: Annotated[
        Path | None, typer.Option(help="File of view embeddings, to recognize landmarks.")
    ] = None,
    statistics: Annotated[
        Path | None, typer.Option(help="File of landmark score statistics over the training area.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto",
    resume: Annotated[bool, typer.Option("--resume", help="Continue the training in `--out`.")] = False,
) -> None:
    """Fine-tune a language model to follow instructions, as VELMA does."""
    hyperparameters = read_overrides(override or [])
    require("train", "torch", "transformers", "peft", what="fine-tuning")
    from ..dataset import Selection  # noqa: PLC0415
    from .train import Options, train  # noqa: PLC0415 - brings in torch

    def select(split: str, limit: int | None) -> Selection:
        """Return the first `limit` episodes of a split, `None` for all, as a selection."""
        return Selection(data, dataset, scenario, split, limit=limit)

    options = Options(
        method=method,
        model=model,
        train=select(train_split, train_limit),
        dev=select(dev_split, dev_limit),
        out=out,
        resume=resume,
        device=device,
        features=features,
        statistics=statistics,
    )
    train(options, hyperparameters, SafeConsole())


if __name__ == "__main__":
    typer.run(main)

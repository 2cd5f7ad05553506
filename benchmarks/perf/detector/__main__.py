"""`python -m benchmarks.perf.detector`: train, export and score the detector `rendered`."""

from pathlib import Path
from typing import Annotated

import typer

from virl.cli.guard import add_guard
from virl.console import SafeConsole
from virl.extras import require

app = typer.Typer(help="Train, export and score the detector `rendered`.", no_args_is_help=True)

Extracts = Annotated[
    Path | None,
    typer.Option(
        help="Folder of OpenStreetMap extracts. By default, made towns only.", exists=True, file_okay=False
    ),
]


@app.command()
@add_guard()
def train(
    folder: Annotated[Path, typer.Argument(help="Folder of views, checkpoint and log.", file_okay=False)],
    extracts: Extracts = None,
    cycle: Annotated[
        list[int] | None,
        typer.Option(
            help="Steps of a cycle of the learning rate. Can be repeated. By default, 3000, 5000 and 4000.",
            min=1,
        ),
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option(
            help="Exported network to start from. By default, random weights.", exists=True, dir_okay=False
        ),
    ] = None,
    threads: Annotated[int, typer.Option(help="Threads of torch; the views take one more core.", min=1)] = 1,
) -> None:
    """Train, or continue an interrupted training."""
    require("train", "torch")
    import torch  # noqa: PLC0415 - of an extra

    from benchmarks.perf.detector.towns import training_towns  # noqa: PLC0415
    from benchmarks.perf.detector.training import Recipe, Training  # noqa: PLC0415
    from benchmarks.perf.detector.views import Views  # noqa: PLC0415

    torch.set_num_threads(threads)
    recipe = Recipe(cycles=tuple(cycle)) if cycle else Recipe()
    with Views(folder / "views", training_towns(extracts), recipe.seed, recipe.views) as shown:
        Training(folder, shown, recipe, start).run()


@app.command()
@add_guard()
def export(
    checkpoint: Annotated[Path, typer.Argument(help="`checkpoint.pt` of a training.", dir_okay=False)],
    file: Annotated[Path, typer.Argument(help="ONNX file to write.", dir_okay=False)],
) -> None:
    """Write the network of a checkpoint as ONNX, and compare the two."""
    require("train", "torch", "onnx", "onnxscript")
    from benchmarks.perf.detector.export import export as write  # noqa: PLC0415 - brings in torch

    difference = write(checkpoint, file)
    SafeConsole().print(f"{file}: {file.stat().st_size / 1e6:.1f} MB, {difference:.1g} or less from torch")


@app.command()
@add_guard()
def curves(
    log: Annotated[Path, typer.Argument(help="`log.jsonl` of a training.", dir_okay=False)],
    file: Annotated[Path, typer.Argument(help="SVG file to write.", dir_okay=False)],
) -> None:
    """Draw the losses of a training over its steps."""
    from benchmarks.perf.detector.curves import draw_curves, read_log  # noqa: PLC0415

    file.write_text(draw_curves(read_log(log)))


@app.command()
@add_guard()
def score(
    model: Annotated[str, typer.Option(help="A detector of this kind, or a path of its file.")] = "rendered",
    town: Annotated[
        list[str] | None,
        typer.Option(help="Seed or OpenStreetMap extract. Can be repeated. By default, seeds 202 and 1."),
    ] = None,
    views: Annotated[int, typer.Option(help="Number of views of each town.", min=1)] = 400,
) -> None:
    """Print how well the detector finds things: a Markdown table for each town."""
    from benchmarks.perf.detector.score import score_towns  # noqa: PLC0415 - brings in the renderer
    from benchmarks.perf.detector.towns import HELD_OUT, VIRLTON  # noqa: PLC0415

    for table in score_towns(model, town or [HELD_OUT, VIRLTON], views):
        SafeConsole().print(table, markup=False, highlight=False, soft_wrap=True)


if __name__ == "__main__":
    app()

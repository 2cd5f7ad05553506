"""`python -m benchmarks.touchdown`: instruction following on the streets of Touchdown and Map2seq."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from virl.errors import BadInput
from virl.guard import guard
from virl.platform.providers.graph.touchdown import Dataset
from virl.resources import cache_home

from ..following.run import run
from ..following.trial import Options
from .agents import AGENTS, Choices, open_agent
from .dataset import Scenario, Selection, open_data, run_settings
from .replay import replay
from .score import score
from .trial import open_trial
from .vision import Sight

app = typer.Typer(
    help="Instruction following on the streets of Touchdown and Map2seq.",
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def score_agent(
    context: typer.Context,
    agent: Annotated[str, typer.Option(help=f"One of {', '.join(AGENTS)}.")] = "follower",
    out: Annotated[Path | None, typer.Option(help="Folder of the run.", file_okay=False)] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the data; by default the user's, else Virlton's export.")
    ] = None,
    dataset: Annotated[Dataset, typer.Option(help="Whose instructions.")] = "map2seq",
    scenario: Annotated[Scenario, typer.Option(help="Whose part of the city.")] = "unseen",
    split: Annotated[str, typer.Option(help="Which split.")] = "dev",
    episodes: Annotated[
        Path | None, typer.Option(help="A file of episodes in the same format, in place of the split.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Only the first so many episodes.", min=1)] = None,
    mind: Annotated[
        str, typer.Option(envvar="VIRL_MIND", help="What velma and navgpt ask: `rules`, or `openai:MODEL`.")
    ] = "rules",
    rate: Annotated[
        float | None, typer.Option(help="Requests a second at most, over all workers.", min=0.001)
    ] = None,
    use_map: Annotated[bool, typer.Option("--map", help="The follower may plan on the map.")] = False,
    use_prior: Annotated[
        bool, typer.Option("--prior", help="The follower may use statistics of the data set's routes.")
    ] = False,
    compat: Annotated[
        Literal["velma"] | None,
        typer.Option(help="As published: a reply of velma's model that cannot be read is a forward."),
    ] = None,
    views: Annotated[
        bool, typer.Option("--views", help="navgpt is told what the panoramas show, by the senses.")
    ] = False,
    shots: Annotated[int, typer.Option(help="Worked examples that velma is shown.", min=0)] = 2,
    examples: Annotated[
        Path | None, typer.Option(help="Episodes to draw them from; by default the split `train`.")
    ] = None,
    panoramas: Annotated[Path | None, typer.Option(help="Your StreetLearn panoramas, ID.jpg each.")] = None,
    features: Annotated[Path | None, typer.Option(help="Embeddings of views, in their place.")] = None,
    statistics: Annotated[
        Path | None, typer.Option(help="Statistics of landmark scores; goes with the two before.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of whatever is chosen by chance.", min=0)] = 0,
    workers: Annotated[int, typer.Option(help="Episodes side by side.", min=1)] = 1,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Let an agent walk the episodes of a split, and score it."""
    if context.invoked_subcommand is not None:
        return

    def work() -> None:
        if out is None:
            raise BadInput("say with --out in which folder the run is to be kept")
        chosen = Selection(data, dataset, scenario, split, episodes, limit)
        choices = Choices(
            agent=agent,
            mind=mind,
            replies=cache_home() / "replies",
            rate=rate,
            seed=seed,
            use_map=use_map,
            use_prior=use_prior,
            compat=compat is not None,
            views=views,
            shots=shots,
            examples=examples,
            sight=Sight(panoramas, features, statistics),
        )
        opened = open_data(chosen)
        ready = open_agent(opened, chosen, choices)
        run(
            open_trial(opened, chosen),
            ready,
            run_settings(opened, chosen),
            Options(out, workers, resume),
            Console(),
        )

    guard(work, debug=debug)


app.command()(replay)
app.command()(score)

if __name__ == "__main__":
    app(prog_name="python -m benchmarks.touchdown")

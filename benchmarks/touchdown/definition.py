"""The episodes of Touchdown and Map2seq, and recorded walks of them that are walked again.

Replaying tells how many states and validated actions come out the same. A line of a file of walks, such as
the `records.jsonl` of a run, is a JSON object with `actions`, the state after each of them in `states` (id of
the panorama, heading in degrees), and where it begins: `start`, a state, or one state more at the head of
`states`. With `validated`, the action that validation made of each, what `actions` holds is read as VELMA
does (what names no action is a forward) and validated; without, the actions are taken as they stand.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, Self

import typer
from pydantic import BaseModel, ConfigDict, FiniteFloat, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from virl.bench.benchmark import Benchmark, OwnPage, PageHead
from virl.bench.episode import Episode, Record
from virl.bench.report.walks_page import FILE, TITLE, write_walks_page
from virl.bench.resources import Resources
from virl.bench.walks import WalkWorld, as_walked, run_walk, score_records, show_walk, walk_episodes
from virl.cli.guard import add_guard
from virl.console import echo
from virl.files.json_reading import misfits
from virl.journal.walk_map import town_ground
from virl.platform.city.graph import NavigationGraph
from virl.platform.movers.discrete.actions import TOUCHDOWN, VELMA, Action, Rules, WalkState, parse_action
from virl.platform.movers.discrete.task import start_state
from virl.platform.providers.graph.city import find_data
from virl.platform.providers.graph.data_files import FileFault, GraphFault, read_lines
from virl.platform.providers.graph.touchdown import load_touchdown
from virl.registry import first_line

from .agents import open_agent
from .dataset import name_of, open_data
from .options import Options
from .published import PUBLISHED
from .score import METRICS, SUCCESS, SUCCESSES, figures, score_walk
from .score_file import score as score_file

State = tuple[str, FiniteFloat]
_RULES = {rules.name: rules for rules in (VELMA, TOUCHDOWN)}
_SHOWN = 10  # walks whose first disagreement is listed; chosen
_DISAGREES = 1  # exit code


@add_guard()
def replay(
    walks: Annotated[Path, typer.Option(help="File of walks, one JSON object per line.")],
    graph: Annotated[
        Path | None, typer.Option(help="Folder of nodes.txt and links.txt. By default, your installed data.")
    ] = None,
    rules: Annotated[Literal["velma", "touchdown"], typer.Option(help="Rules of the actions.")] = "velma",
) -> None:
    """Replay recorded walks, and compare states and validations; exits with 1 if any differ."""
    folder = find_data("touchdown") / "graph" if graph is None else graph
    streets = load_touchdown(folder)
    tally = _replay_walks(streets, _read_walks(walks, streets), _RULES[rules])
    for line in tally.lines():
        echo(line)
    if not tally.agrees:
        raise typer.Exit(_DISAGREES)


ABOUT = (
    "Episodes on the street map, north up. KPA* is the key point accuracy as the published code computes it."
)


def episodes(options: Options, resources: Resources) -> list[Episode]:
    """Return an episode for each instruction of the split."""
    return walk_episodes(prepare(options, resources))


def prepare(options: Options, resources: Resources) -> WalkWorld:
    """Return the split's data and the agent, read and opened once."""
    return resources.make_once(("touchdown", options), lambda: _open_world(options, resources))


def _open_world(options: Options, resources: Resources) -> WalkWorld:
    """Return the agent, graph, instructions and scoring of a split's walks."""
    data = open_data(options.selection)
    return WalkWorld(
        agent=open_agent(data, options, resources),
        name=name_of(data, options.selection),
        folder=data.folder,
        source=data.source,
        graphs={"": data.graph},
        ids=data.ids,
        instructions=data.episodes,
        faults=data.faults,
        attribution=data.attribution,
        start=lambda episode: start_state(data.graph, episode, options.dataset),
        score=lambda episode, walked: score_walk(data.graph, episode, walked),
        successes=SUCCESSES,
    )


def _write_page(path: Path, head: PageHead, records: Sequence[Record], options: Options) -> None:
    """Write the page that shows every walk on the street map."""
    data = open_data(options.selection)
    graphs, ground = {"": data.graph}, town_ground(data.made_city)
    write_walks_page(
        path, head, records, graphs, about=ABOUT, success=SUCCESS, figures=figures, ground=ground
    )


BENCHMARK = Benchmark(
    name="touchdown",
    title="Touchdown and Map2seq",
    about=first_line(__name__),
    options=Options,
    episodes=episodes,
    prepare=prepare,
    run=run_walk,
    score=partial(score_records, metrics=METRICS),
    show=partial(show_walk, success=SUCCESS, figures=figures),
    metrics=METRICS,
    units="walks",
    bounds=("gold", "shortest"),
    published=PUBLISHED,
    page=OwnPage(FILE, TITLE, _write_page),
    commands={"score": score_file, "replay": replay},
    typical_s=0.3,
    work="threads",
)


class RecordedWalk(BaseModel):
    """One line of a file of walks; other fields are ignored."""

    model_config = ConfigDict(frozen=True)

    start: State
    actions: tuple[str, ...]
    states: tuple[State, ...]
    validated: tuple[Action, ...] | None = None

    @model_validator(mode="before")
    @classmethod
    def _take_start(cls, line: object) -> object:
        """Return the line with its start, which may be the first of its states."""
        line = as_walked(line)
        if isinstance(line, dict) and "start" not in line and isinstance(line.get("states"), list):
            first, *others = line["states"] or [None]
            return line | {"start": first, "states": others}
        return line

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        """Return the walk; raise an error unless it has one state, and validation, per action."""
        counts = {"states": len(self.states), "validated": len(self.validated or self.actions)}
        for name, count in counts.items():
            if count != len(self.actions):
                told = f"{count} {name} for {len(self.actions)} actions"
                raise PydanticCustomError("walk_length", "{told}", {"told": told})
        return self


@dataclass(slots=True)
class Agreement:
    """The counts of states and validations of replayed walks that came out as recorded."""

    walks: int = 0
    states: int = 0
    same_states: int = 0
    validations: int = 0
    same_validations: int = 0
    disagreements: list[str] = field(default_factory=list)
    """First disagreement of each walk, in words."""

    @property
    def agrees(self) -> bool:
        """Return whether all states and validations came out as recorded."""
        return self.states == self.same_states and self.validations == self.same_validations

    def lines(self) -> Iterator[str]:
        """Yield the counts and the first disagreements as lines for people."""
        yield f"walks        {self.walks:7}"
        yield f"states       {self.same_states:7} of {self.states} agree"
        if self.validations:
            yield f"validations  {self.same_validations:7} of {self.validations} agree"
        yield from self.disagreements[:_SHOWN]
        if len(self.disagreements) > _SHOWN:
            yield f"and {len(self.disagreements) - _SHOWN} more walks"


def _read_walks(file: Path, graph: NavigationGraph) -> list[RecordedWalk]:
    """Return the recorded walks in a file; raise GraphFault with all lines that do not fit the graph."""
    lines, faults = read_lines(file)
    walks: list[RecordedWalk] = []
    known = set(graph.ids)
    for number, text in enumerate(lines, 1):
        try:
            walks.append(RecordedWalk.model_validate_json(text))
        except ValidationError as fault:
            faults.append(FileFault(file, number, "; ".join(misfits(fault))))
        else:
            if (start := walks[-1].start[0]) not in known:
                faults.append(FileFault(file, number, f"the start {start!r} is not in the graph"))
    if faults:
        raise GraphFault(faults)
    return walks


def _replay_walks(graph: NavigationGraph, walks: Sequence[RecordedWalk], rules: Rules = VELMA) -> Agreement:
    """Return how far all walks agree with the record, each walked again by its own states."""
    tally = Agreement(walks=len(walks))
    for number, walk in enumerate(walks, 1):
        _replay_walk(graph, walk, rules, number, tally)
    return tally


def _replay_walk(
    graph: NavigationGraph, walk: RecordedWalk, rules: Rules, number: int, tally: Agreement
) -> None:
    """Walk a recorded walk again by the rules, and count in `tally` what agrees with the record."""
    state = WalkState(graph.number(walk.start[0]), walk.start[1])
    differ: list[str] = []
    for step, (text, expected) in enumerate(zip(walk.actions, walk.states, strict=True), 1):
        action = parse_action(text) or Action.FORWARD
        where = f"walk {number}, action {step} ({text!r})"
        if walk.validated is not None:
            action, recorded = rules.validate(graph, state, action), walk.validated[step - 1]
            tally.validations += 1
            tally.same_validations += action is recorded
            if action is not recorded:
                differ.append(f"{where}: validated as {action.value}, recorded {recorded.value}")
        state = rules.step(graph, state, action)
        found = (graph.ids[state.node], state.heading)
        tally.states += 1
        tally.same_states += found == expected
        if found != expected:
            told = (f"{node} at {heading:g} degrees" for node, heading in (found, expected))
            differ.append(f"{where}: {', recorded '.join(told)}")
    tally.disagreements += differ[:1]

"""A person plays an episode of a benchmark, and is scored as the agents are."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from virl.agent.control import Control, describe_link
from virl.bench.benchmark import BaseOptions, find_benchmark
from virl.bench.episode import Episode, Record
from virl.bench.report.runs import gather
from virl.bench.resources import Resources
from virl.bench.run import Engine, Part, run_benchmark
from virl.errors import BadInput
from virl.journal.convert import pose_record
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Camera, View
from virl.platform.movers.base import Choice, Step, steered_by
from virl.platform.navigators.instruction.baselines import HUMAN

__all__ = ["HUMAN", "Player", "episodes_to_play", "play", "played_by_human"]


@dataclass(frozen=True, slots=True)
class Player:
    """A walk's `Steering` whose every step a person decides in the browser.

    The control's standing has the task as its question. Handing back changes nothing: nobody else plays.
    """

    control: Control
    """Control through which the person looks, steers and stops."""

    def decide(self, step: Step) -> Choice:
        """Wait for the person's choice at a step, and return it: a link to take, or the end."""
        control, links = self.control, step.links
        pose = pose_record(step.pose, step.panorama.position)
        control.arrive(pose)

        def look(camera: Camera) -> View:
            """Return the view of a camera at the step's panorama."""
            if step.streetview is None:
                raise BadInput("this walk has no views to look at: decide by the links")
            return step.streetview.view(step.pose.pano_id, camera)

        while True:
            control.rest(look, _unheard)
            control.take_over()
            link = control.chosen_link(links, look, _unheard, task=step.task)
            if link is not None:
                direction = describe_link(link, pose).description
                return Choice(link, f"the player goes {direction}", decided_by=HUMAN)
            if control.is_finished:
                return Choice.end(Outcome("stopped", "the player stops here"), HUMAN)


def played_by_human(name: str) -> dict[str, object]:
    """Return {field: value} of a benchmark's options with which a person plays it.

    Raises:
        BadInput: it compares neither models nor agents.
    """
    fields = find_benchmark(name).options.model_fields
    if "agent" in fields:
        return {"agent": HUMAN}
    if "models" in fields:
        return {"models": [HUMAN]}
    raise BadInput(f"benchmark {name!r} cannot be played: choose one such as vln")


def episodes_to_play(name: str, options: BaseOptions) -> list[Episode]:
    """Return all episodes that a benchmark has with these options, for a person to choose from.

    Raises:
        VirlError: the data cannot be read.
    """
    with closing(Resources()) as resources, steered_by(Player(Control())):
        return list(find_benchmark(name).episodes(options, resources))


def play(
    name: str,
    options: BaseOptions,
    out: Path,
    console: Console,
    control: Control,
    *,
    case: str | None = None,
    resume: bool = False,
) -> list[Record]:
    """Let a person play the episode `case`, or all, in the browser; return all records of plays in `out`.

    Args:
        name: of the benchmark.
        options: of the benchmark.
        out: folder of the run, with its records and reports as of any other.
        console: where the results are told.
        control: at which the person decides.
        case: the only case that is played; by default all of them, one after the other.
        resume: whether to go on with the run in `out`.

    Raises:
        VirlError: as `virl.bench.run.run_benchmark`; also where the person stopped.
    """
    engine = Engine("threads", workers=1, attempts=1)
    control.tell_listeners("Nobody listens: you play this episode yourself.")
    with control.open(), steered_by(Player(control)):
        run_benchmark(name, options, out, console, engine=engine, part=Part(case=case), resume=resume)
    return [record for run in gather([out]).runs for record in run.records]


def _unheard(said: str) -> None:
    """Ignore the person's words `said`, since nobody listens in an episode."""

"""How the cost of runs, pages and sessions grows with their size: seconds of a core, and exponents.

    python -m benchmarks.perf.growth [--json]

Each row is measured at several sizes. The exponent is that between the two largest, the cost of the smallest
taken off: 1 is linear. It takes some minutes. Everything is made in a temporary folder, keyless, in Virlton.
"""

import json
import os
import shutil
import subprocess  # nosec B404
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import log
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import yaml

from virl.agent.plan import RunOptions
from virl.agent.start import begin
from virl.agent.tool import TOOLS
from virl.console import SafeConsole
from virl.journal.gallery import write_gallery
from virl.journal.journal import JOURNAL
from virl.journal.report import write_report
from virl.pages.ground import MapGround
from virl.platform.providers.cities import Access, opened_city
from virl.serve.watch.feed import RunCatalogue
from virl.tools.body import Body
from virl.tools.use import RecordingExecutor

from .figures import command, figure_table, figures

TURNS, STEPS, RUNS, CALLS = (1, 250, 500, 999), (1, 200, 800, 3000), (1, 100, 300, 1000), (1, 600, 1200, 2400)
WALKER = """
name: Walker
city: virlton
start: 91 Station Street
background: walks
intention: Walk up and down.
tools: [look, move, turn, where_am_i]
limits: {steps: 100000, calls: 1000}
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print the seconds of each row at its sizes, and how they grow."""
    options = command(__doc__).parse_args(arguments)
    with tempfile.TemporaryDirectory() as home, figures(options) as found:
        folder = Path(home)
        _virl("run", "hiro", "--set", "limits.steps=12", "--out", str(folder / "hiro"))
        rows: dict[str, tuple[Sequence[int], Callable[[int], float]]] = {
            "turns of an agent with tools": (TURNS, lambda size: _time_turns(folder, size)),
            "report, steps of a run": (STEPS, lambda size: _report(folder, size)),
            "first list of virl watch, runs": (RUNS, lambda size: _time_cards(folder, size)),
            "gallery, runs": (RUNS, lambda size: _time_gallery(folder, size)),
            "calls of one session": (CALLS, lambda size: _calls(folder, size)),
        }
        table = figure_table("what", "sizes", "seconds of a core", "exponent")
        for name, (sizes, measure) in rows.items():
            seconds = [round(measure(size), 2) for size in sizes]
            exponent = _exponent(sizes, seconds)
            found[name] = {"sizes": list(sizes), "seconds": seconds, "exponent": exponent}
            told = (", ".join(map(str, numbers)) for numbers in (sizes, seconds))
            table.add_row(name, *told, str(exponent))
        found.show(table)


def _exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Return the exponent of growth between the two largest sizes, the smallest size's cost taken off."""
    [(small, large)] = list(pairwise(sizes))[-1:]
    less, more = (max(0.01, one - seconds[0]) for one in seconds[-2:])
    return round(log(more / less) / log(large / small), 2)


def _virl(*arguments: str) -> float:
    """Run a `virl` command, and return the seconds of a core that it took."""
    before = getrusage(RUSAGE_CHILDREN)
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    asked = [sys.executable, "-m", "virl", *arguments, "--quiet"]
    subprocess.run(asked, check=True, env=environment, stdout=subprocess.DEVNULL)  # noqa: S603 # nosec B603
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _time_turns(folder: Path, size: int) -> float:
    """Return the seconds of a run in which a model with tools takes `size` turns."""
    turns: list[object] = [
        {"calls": [{"tool": "move", "args": {"direction": "rear"}}, {"tool": "where_am_i"}]}
    ]
    script, walker = folder / f"turns-{size}.yaml", folder / "walker.yaml"
    script.write_text(yaml.safe_dump({"turns": turns * size + [{"answer": "done"}]}))
    walker.write_text(WALKER)
    return _virl("run", str(walker), "--mind", f"scripted:{script}", "--out", str(folder / script.stem))


def _report(folder: Path, size: int) -> float:
    """Return the seconds of writing the report of a run of `size` steps, made from a real one."""
    run = folder / f"steps-{size}"
    shutil.copytree(folder / "hiro" / "views", run / "views", copy_function=os.link)
    records = [json.loads(line) for line in (folder / "hiro" / JOURNAL).read_text().splitlines()]
    steps = [record for record in records if record["kind"] == "step"]
    lines = [records[0]] + [
        steps[number % len(steps)] | {"seq": number + 1, "step": number} for number in range(size)
    ]
    (run / JOURNAL).write_text("".join(json.dumps(line) + "\n" for line in lines))
    with opened_city("virlton", Access()) as city:
        return _cpu_seconds(lambda: write_report(run, city))


def _copy_runs(folder: Path, size: int) -> Path:
    """Return a folder with `size` runs, all hard links to one."""
    runs = folder / f"runs-{size}"
    if not runs.exists():
        for number in range(size):
            shutil.copytree(folder / "hiro", runs / f"hiro-{number:04}", copy_function=os.link)
    return runs


def _time_cards(folder: Path, size: int) -> float:
    """Return the seconds of listing `size` runs for `virl watch`."""
    catalogue = RunCatalogue([_copy_runs(folder, size)], lambda _: MapGround())
    return _cpu_seconds(catalogue.index)


def _time_gallery(folder: Path, size: int) -> float:
    """Return the seconds of writing a gallery of `size` runs."""
    runs = _copy_runs(folder, size)
    return _cpu_seconds(lambda: write_gallery([runs], folder / f"gallery-{size}" / "all.html"))


def _calls(folder: Path, size: int) -> float:
    """Return the seconds of `size` calls of one tool in one session, each with a look at the cost."""
    where = TOOLS.find("where_am_i").arguments()
    script = f"scripted:{folder / f'turns-{TURNS[0]}.yaml'}"  # rules would refuse what the walker wants
    asked = RunOptions(agent=str(folder / "walker.yaml"), mind=script, out=folder / f"calls-{size}")
    with begin(asked, SafeConsole(quiet=True)) as agent:
        use = RecordingExecutor(Body(agent))

        def ask() -> None:
            """Call the tool `size` times, and read the run's cost after each call."""
            for _ in range(size):
                use("where_am_i", where)
                assert agent.run.cost.usd == 0  # noqa: S101 - read for its time

        return _cpu_seconds(ask)


def _cpu_seconds(work: Callable[[], object]) -> float:
    """Return the seconds of processor time that a call of `work` takes."""
    began = time.process_time()
    work()
    return time.process_time() - began


if __name__ == "__main__":
    main()

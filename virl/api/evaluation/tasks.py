"""A task of Inspect for each benchmark that is installed: `inspect eval virl/vln`.

Inspect finds this module by the entry point `virl` of the group `inspect_ai`. Benchmarks of other packages
become tasks in the same way. None of them is imported before its task is asked for.
"""

from collections.abc import Callable

from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError

from virl.api.evaluation.adapter import benchmark_task
from virl.bench.benchmark import benchmark_names
from virl.console import as_markup
from virl.errors import VirlError


def _register(name: str) -> Callable[..., Task]:
    """Return the task of Inspect that runs a benchmark, registered by its name."""

    def make_task(**options: object) -> Task:
        try:
            return benchmark_task(name, options)
        except VirlError as fault:  # Inspect prints such errors without a traceback
            raise PrerequisiteError(as_markup(str(fault))) from fault

    make_task.__doc__ = f"The benchmark `{name}`; arguments are its options (see `virl bench {name} --help`)."
    return task(name=name)(make_task)


TASKS = {name: _register(name) for name in benchmark_names()}

"""Long work before the first step: the opening of a city, measured on this machine, and compiling."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic

from rich.console import Console

from virl.console import LONG_S, say, told_if_long
from virl.errors import VirlError
from virl.files.writing import write_whole
from virl.pages.numbers import show_duration
from virl.platform.city.city import City
from virl.resources import cache_home

_NEW = "for the first time: usually 3 s for a made town, 2 to 80 s for an extract"


@contextmanager
def told_opening(doing: str, city: str, console: Console) -> Iterator[None]:
    """Say what is done to a city and how long it took before, once it takes long; keep how long it takes.

    Args:
        doing: `"Opening"` or `"Reading"`.
        city: its name.
        console: nothing is said where it is quiet.
    """
    path, key = cache_home() / "opened" / "seconds.json", f"{doing} {city}"
    times: dict[str, list[float]] = {}
    with suppress(OSError, ValueError, TypeError, KeyError):
        known = json.loads(path.read_bytes())
        times = {name: [float(known[name][0]), float(known[name][1])] for name in known}
    last, longest = times.get(key, (0.0, 0.0))
    before = f"{show_duration(last)} the last time, {show_duration(longest)} at most" if longest else _NEW
    begun = monotonic()
    with told_if_long(f"{key} ({before})", console):
        yield
    seconds = monotonic() - begun
    if seconds > LONG_S or key in times:
        times[key] = [seconds, max(seconds, longest)]
        with suppress(VirlError):  # an estimate is no reason to end a run
            write_whole(path, json.dumps(times).encode(), "start again")


def tell_compiling(city: City, console: Console) -> None:
    """Say that the renderer is compiled, on the first run of a version of virl in a city that it draws."""
    if city.truth is None:
        return
    from virl.towns.render.ahead import compile_ahead, is_kept  # noqa: PLC0415 - cities that are drawn

    if not is_kept():
        say(console, "[dim]Compiling the renderer, only this once: about 16 s on two idle cores.[/]")
        compile_ahead()

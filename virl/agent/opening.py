"""What comes before the first step: the opening of a city, compiling, and the mover that fits the start."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Console

from virl.console import LONG_S, as_markup, say, told_if_long
from virl.errors import BadInput, UnknownName, VirlError, choices
from virl.files.writing import write_whole
from virl.journal.records import StartRecord
from virl.pages.numbers import show_duration
from virl.platform.city.city import City, MoverChoice
from virl.platform.city.streetview import Panorama
from virl.platform.movers.open_mover import MOVERS
from virl.platform.providers.cities import city_settings
from virl.platform.providers.provider import provider_of
from virl.resources import cache_home

if TYPE_CHECKING:
    from virl.platform.movers.web import WebSettings


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


def compile_renderer(city: str, console: Console) -> None:
    """Begin to compile the renderer, and say so, where virl draws a city and has not compiled it yet.

    That happens once for each version of virl, and goes on while the city is opened.
    """
    if not provider_of(city_settings(city)).drawn:
        return
    from virl.towns.render.ahead import compile_ahead, is_kept  # noqa: PLC0415 - cities that are drawn

    if not is_kept():
        say(console, "[dim]Compiling the renderer, only this once: about 16 s on two idle cores.[/]")
        compile_ahead()


def planned_mover(city: str, asked: str | None = None) -> MoverChoice:
    """Return the mover for a city as far as that is known before it is opened.

    The user's, or the one that fits.

    Raises:
        UnknownName: there is no such mover.
        BadInput: it does not work there.
    """
    file = city_settings(city)
    fit = file.mover or MoverChoice(provider_of(file).mover, "")
    if asked and asked not in MOVERS:
        raise UnknownName("mover", asked, list(MOVERS))
    if asked and fit.works and asked not in fit.works:
        raise BadInput(f"mover {asked!r} does not work in {city} ({fit.reason}): {choices(fit.works)}")
    return MoverChoice(asked, "you asked for it", fit.works) if asked else fit


def with_mover(
    start: StartRecord, city: City, here: Panorama, asked: str | None, console: Console
) -> StartRecord:
    """Return the start with the mover that fits there, as its city tells.

    What was not asked for is said once.

    Args:
        start: first record of the run.
        city: that may say which movers work there.
        here: panorama where the run starts.
        asked: name of a mover; `None` leaves the choice to the city.
        console: where the choice is said.
    """
    if city.fit_mover is None:
        return start
    fit = city.fit_mover(here, asked)
    if not asked:
        say(console, as_markup(f"Mover: {fit.name}, as {fit.reason} (see --mover)"))
    return start.model_copy(update={"mover": fit.name, "mover_reason": fit.reason})


def web_settings(mover: str, city: City) -> "WebSettings | None":
    """Return the settings of the page that the mover `web` loads; `None` for other movers.

    Raises:
        BadInput: the mover is `web`, and no web page shows the city's street view.
    """
    if mover != "web":
        return None
    if city.panorama_page is None:
        raise BadInput(f"mover 'web' does not work in {city.title}: no web page shows its street view")
    from virl.platform.movers.web import WebSettings  # noqa: PLC0415 - brings in what drives a browser

    return WebSettings.of_page(city.panorama_page)

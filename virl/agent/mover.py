"""The mover of a run: the one that was asked for, or the one that fits its city and its start."""

from typing import TYPE_CHECKING

from rich.console import Console

from virl.console import as_markup, say
from virl.errors import BadInput, UnknownName, choices
from virl.journal.records import StartRecord
from virl.platform.city.city import City, MoverChoice
from virl.platform.city.streetview import Panorama
from virl.platform.movers.open_mover import MOVERS
from virl.platform.providers.cities import city_settings
from virl.platform.providers.registry import provider_of

if TYPE_CHECKING:
    from virl.platform.movers.web import WebSettings


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

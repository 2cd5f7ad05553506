"""The one place where a character is put together with a city, a mind, senses, a mover and a record.

Runs, consultations and benchmarks use it: `assemble` joins the parts that do not depend on the record, and
`perform` runs the routine of the agent. The opening of a city and the choice of a mover are here, too.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Console

from virl.agent.agent import Agent, Assembly
from virl.agent.character import Point
from virl.agent.character_file import LoadedCharacter
from virl.bugs import bug_of
from virl.console import LONG_S, as_markup, say, told_if_long
from virl.errors import BadInput, MindFailed, NoStreetView, NotFound, VirlError
from virl.files.writing import write_whole
from virl.geo.globe import LatLng, distance
from virl.journal.journal import asks_model
from virl.journal.records import Result, StartRecord, WordsRecord
from virl.mind.base import DescribedMind, Mind
from virl.mind.lexicon import load_lexicon
from virl.mind.prompt import PromptFolder, Prompts
from virl.mind.rules import RuleMind
from virl.mind.understanding import Understanding, understand
from virl.pages.numbers import show_duration
from virl.plain_text import shorten
from virl.platform.city.city import City
from virl.platform.city.locate import locate
from virl.platform.city.outcome import Outcome
from virl.platform.city.starts import liveliest, start_near
from virl.platform.city.streetview import Panorama
from virl.platform.movers.base import Mover
from virl.platform.perception.models import Models, read_model
from virl.platform.perception.senses import open_senses
from virl.platform.providers.cities import city_settings
from virl.platform.providers.provider import provider_of
from virl.resources import cache_home
from virl.settings.region_file import MAX_FROM_CITY_M
from virl.towns.streetview import check_drawing
from virl.traces.spans import conversation, span

if TYPE_CHECKING:
    from virl.platform.movers.web import WebSettings


@contextmanager
def trace_agent(agent: "Agent") -> Iterator[None]:
    """Trace the block as an agent's run: a telemetry span, with the run's id as the conversation's id."""
    start = agent.run.start
    with (
        conversation(start.id or agent.run.folder.name),
        span(
            f"invoke_agent {agent.character.name}",
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.provider.name": "virl",
                "gen_ai.agent.name": agent.character.name,
                "gen_ai.agent.id": start.agent,
                "gen_ai.agent.version": start.virl,
                "virl.city": agent.run.city,
                "virl.mind": start.mind,
                "virl.routine": start.routine,
                "virl.seed": start.seed,
            },
        ) as told,
    ):
        try:
            yield
        finally:
            cost, result = agent.run.cost, agent.run.result
            told.tell(
                {
                    "gen_ai.usage.input_tokens": cost.input_tokens,
                    "gen_ai.usage.output_tokens": cost.output_tokens,
                    "virl.cost_usd": cost.usd,
                    "virl.steps": agent.run.steps[-1].step if agent.run.steps else 0,
                    "virl.status": result.status if result else None,
                }
            )


_LONGEST_REASON = 300  # characters of a model's error message that become the reason of a run's end; chosen


def assemble(
    loaded: LoadedCharacter,
    city: City,
    mind: Mind,
    models: Models,
    mover: Mover,
    *,
    may_move_start: bool = False,
    first_position: LatLng | None = None,
    replacement_seed: int | None = None,
) -> Assembly:
    """Return an agent's opened, checked parts; a start (`may_move_start`) or names (seed) may be replaced.

    Args:
        loaded: the character, as it was read or changed, with its file.
        city: already open.
        mind: what answers its prompts.
        models: opens its senses.
        mover: how it gets about.
        may_move_start: whether a start that is not in the city is replaced by its liveliest part, or by the
            middle of a city that is not held whole.
        first_position: position of the first step of a run that goes on; if its start is not in the city any
            more, it started there.
        replacement_seed: seed from which replacements are drawn for what its file names and this city lacks;
            `None` takes the file as it is.

    Raises:
        BadInput: there is no such routine, or its start is not in the city.
        VirlError: what a model needs is missing.
    """
    routine, senses = loaded.routine, loaded.character.senses
    for role, name in senses.by_role:
        with loaded.errors_at("senses", role):
            read_model(role, name)
    beside = PromptFolder(loaded.source.parent / "prompts", routine.package)
    own = PromptFolder(routine.folder / "prompts", routine.package)
    loaded, start, reason = _place_character(loaded, city, first_position, may_move_start=may_move_start)
    fitted: tuple[str, ...] = ()
    if replacement_seed is not None:
        character, fitted = routine.fit(loaded.character, city, start, replacement_seed)
        loaded = replace(loaded, character=character)
    opened = open_senses(senses.detector, senses.describer, models=models)
    if isinstance(mind, DescribedMind):
        mind.describe_by(opened.describer.describe)
    prompts = Prompts((beside, own))
    return Assembly(loaded, city, start, mind, opened, models, mover, prompts, reason, fitted)


def perform(agent: Agent) -> Result:
    """Run a character's routine to the run's end and return the result; if its model fails, end the run.

    Raises:
        BadInput: there is no such routine, or it returned before it ended its run.
        CodeFault: the routine has a bug; the run can be resumed once it is mended.
        VirlError: whatever the routine raises; the run can be resumed.
    """
    routine = agent.loaded.routine
    run = routine.run()
    with suppress(VirlError):  # checked before the run began; one of an earlier version may not have been
        if words := understand_wish(agent.loaded, agent.mind):
            agent.run.words = WordsRecord(
                understood=words.understood, not_understood=words.asides + words.narrowing
            )
    try:
        with trace_agent(agent):
            run(agent)
    except MindFailed as fault:
        if not asks_model(agent.run.start.mind) or agent.run.result is not None:
            raise  # a script can be continued
        agent.run.end(Outcome("no reply", shorten(str(fault), _LONGEST_REASON)))
    except VirlError:
        raise
    except (Exception, SystemExit) as fault:
        raise bug_of(fault, home=routine.folder, run=agent.run.folder) from fault
    if agent.run.result is None:
        raise BadInput(f"{agent.source}: the routine {routine.name!r} returned before it ended its run")
    return agent.run.result


def check_mind(loaded: LoadedCharacter, mind: Mind) -> None:
    """Check that a mind can do what a character's routine needs; write nothing.

    Raises:
        BadInput: the rules do not understand what the character wants, a script does not fit its tools, or
            its mind is no chat model.
    """
    try:
        understand_wish(loaded, mind, check=True)
        loaded.routine.check_mind(loaded.character, mind)
    except MindFailed as fault:
        raise BadInput(f"{loaded.source}: {fault}") from fault


def understand_wish(loaded: LoadedCharacter, mind: Mind, *, check: bool = False) -> Understanding | None:
    """Return how rules understand a character's wish; `None` without either; `check`: raise on words missed.

    Args:
        loaded: the character, as it was read or changed.
        mind: what will answer.
        check: whether words that narrow what is wanted have to be understood, else `MindFailed` is raised.

    Raises:
        MindFailed: the rules do not understand what is wanted.
    """
    wish = loaded.routine.wish if isinstance(mind, RuleMind) else None
    if wish is None:
        return None
    with loaded.errors_at(wish.field) if wish.field else nullcontext():
        reading = wish.read(loaded.character, load_lexicon())
        understanding = understand(reading) if reading else None
        if understanding and check:
            understanding.check()
    return understanding


def start_panorama(city: City, loaded: LoadedCharacter) -> Panorama:
    """Return the panorama nearest to the address or position in an open city where a character starts.

    Raises:
        BadInput: the start is not in the city.
    """
    with loaded.errors_at("start"):
        return _start(city, loaded.character.start)


def _place_character(
    loaded: LoadedCharacter, city: City, first_position: LatLng | None, *, may_move_start: bool
) -> tuple[LoadedCharacter, Panorama, str]:
    """Return (character, start panorama, why it was moved or ""); a resumed run began at `first_position`."""
    if not (first_position or may_move_start):
        return loaded, start_panorama(city, loaded), ""
    try:
        return loaded, _start(city, loaded.character.start), ""
    except (BadInput, NotFound, NoStreetView) as fault:
        if first_position:
            return loaded, start_near(city, first_position, f"the start in {city.title}"), ""
        if isinstance(fault, BadInput):  # such as swapped numbers: a slip, and no start in another city
            raise
    spot = liveliest(city)
    at = spot.panorama.position if spot else city.center
    there = {"start": Point(lat=at.lat, lng=at.lng)}
    moved = replace(loaded, character=loaded.character.model_copy(update=there))
    reason = str(spot) if spot else f"the middle of {city.title}"
    reason += f"; {city.choice}" if city.choice else ""
    return moved, spot.panorama if spot else start_panorama(city, moved), reason


def _start(city: City, start: str | Point) -> Panorama:
    """Return the panorama nearest to a start; raise `BadInput` if its latitude and longitude seem swapped."""
    if isinstance(start, str):
        position = locate(city, start)[1]
    else:
        position = LatLng(start.lat, start.lng)
        refuse_swapped(position, city)
    return start_near(city, position, f"the start in {city.title}")


def refuse_swapped(position: LatLng, city: City) -> None:
    """Raise `BadInput` if a position outside a city lies in it once latitude and longitude are swapped.

    Raises:
        BadInput: it does.
    """
    if abs(position.lng) > 90 or distance(position, city.center) <= MAX_FROM_CITY_M:
        return
    swapped = LatLng(position.lng, position.lat)
    if distance(swapped, city.center) <= MAX_FROM_CITY_M:
        raise BadInput(
            f"{position} is far from {city.title}, and {swapped} is in it: swap latitude and longitude?"
        )


@contextmanager
def report_opening(doing: str, city: str, console: Console) -> Iterator[None]:
    """Print `doing` ("Opening"), city and usual seconds if the block takes long; then store its duration.

    Args:
        doing: `"Opening"` or `"Reading"`.
        city: its name.
        console: where it is printed.
    """
    path, key = cache_home() / "opened" / "seconds.json", f"{doing} {city}"
    times: dict[str, list[float]] = {}
    with suppress(OSError, ValueError, TypeError, KeyError):
        known = json.loads(path.read_bytes())
        times = {name: [float(known[name][0]), float(known[name][1])] for name in known}
    last, longest = times.get(key, (0.0, 0.0))
    before = "for the first time: usually 3 s for a made town, 2 to 80 s for an extract"
    if longest:
        before = f"{show_duration(last)} the last time, {show_duration(longest)} at most"
    begun = monotonic()
    with told_if_long(f"{key} ({before})", console):
        yield
    seconds = monotonic() - begun
    # Short openings are not worth a file, but what it once told has to stay true.
    if seconds > LONG_S or key in times:
        times[key] = [seconds, max(seconds, longest)]
        with suppress(VirlError):  # an estimate is no reason to end a run
            write_whole(path, json.dumps(times).encode(), "start again")


def compile_renderer(city: str, given: City | None, console: Console) -> None:
    """Start compiling the renderer, if needed, for a city that virl draws; `given` is that city if open.

    That happens once for each version of virl, and goes on while the city is opened.

    Args:
        city: its name.
        given: the city itself, where it is open already.
        console: where it is said.
    """
    if not (given.truth if given else provider_of(city_settings(city)).drawn):
        return
    check_drawing()
    from virl.towns.render.ahead import compile_ahead, is_kept  # noqa: PLC0415 - cities that are drawn

    if not is_kept():
        say(console, "[dim]Compiling the renderer, only this once: about 16 s on two idle cores.[/]")
        compile_ahead()


def with_mover(
    start: StartRecord, city: City, here: Panorama, asked: str | None, console: Console
) -> StartRecord:
    """Return the start record with its mover: the one `asked` for, else the city's choice at `here`, printed.

    Args:
        start: first record of the run.
        city: that may say which movers work there.
        here: panorama where the run starts.
        asked: name of a mover; `None` leaves the choice to the city.
        console: where the choice is said.
    """
    if city.capabilities.fit_mover is None:
        return start
    fit = city.capabilities.fit_mover(here, asked)
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
    if city.capabilities.panorama_page is None:
        raise BadInput(f"mover 'web' does not work in {city.title}: no web page shows its street view")
    from virl.platform.movers.web import WebSettings  # noqa: PLC0415 - brings in what drives a browser

    return WebSettings.of_page(city.capabilities.panorama_page)

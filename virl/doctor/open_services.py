"""Asks the services of a city of open data, and counts the pictures of its district."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import TypeVar

from virl import resources
from virl.doctor.services import RETRIES, TIMEOUTS, OpenOutcome, Status
from virl.errors import ModelUnavailable, NoRoute, ProviderError, VirlError
from virl.extras import require
from virl.geo.globe import destination, distance
from virl.pages.numbers import count_noun, megabytes
from virl.platform.city.left_out import LeftOut
from virl.platform.providers.http.nominatim import Nominatim
from virl.platform.providers.http.osm_servers import (
    CACHE,
    MapServiceSettings,
    ServiceName,
    load_open_maps,
    service_url,
)
from virl.platform.providers.http.stored_replies import Keeping
from virl.platform.providers.open.cells import cells_around, cells_of
from virl.platform.providers.open.city import FOLDER, district_of
from virl.platform.providers.open.city_file import OpenCity
from virl.platform.providers.open.osrm import OsrmWays
from virl.platform.providers.open.picture_services import PICTURES, Shot
from virl.platform.providers.open.places import ZOOM, TiledPlaces
from virl.platform.providers.open.shots import (
    KeptPictures,
    ShotLists,
    load_open_settings,
    open_pictures,
    picture_settings,
)
from virl.platform.providers.open.valhalla import ValhallaWays
from virl.platform.providers.pictures.picture import FULL_TURN
from virl.platform.providers.provider import Access
from virl.redaction import shown_url

NEAR_M = 200.0
"""Metres around the centre in which places and an address are asked for; length of the route too. Chosen."""

AnswerT = TypeVar("AnswerT")
Failure = tuple[Status, str, str]
"""(status, reason, remedy) of a service that did not answer as hoped."""


def ask_open(
    name: str,
    file: OpenCity,
    tell: Callable[[], object] = lambda: None,
    *,
    left_out: LeftOut | None = None,
) -> tuple[OpenOutcome, ...]:
    """Return the outcomes of asking each open service in a city's file, replies cached; `tell` after each.

    Args:
        name: of the city.
        file: its file.
        tell: called after each service.
        left_out: counts what cannot be read in answers.
    """
    found: list[OpenOutcome] = []
    access = Access(left_out=left_out or LeftOut())
    for ask in (_ask_pictures, _ask_places, _ask_maps):
        found += ask(name, file, access)
        tell()
    return tuple(found)


def _ask_pictures(_: str, file: OpenCity, access: Access) -> Iterator[OpenOutcome]:
    """Yield the outcomes of asking for lists of pictures in the district, and for one picture."""
    kind = PICTURES.find(file.streetview)
    own = kind.settings  # of the squares that a run asks for at its start
    cells = cells_of(district_of(file)) if file.region else cells_around(file.center, file.reach_m)
    run = (
        f"{len(cells)} or more lists, kept for {own.keep_days:g} days; then {kind.a_step}, each picture once"
    )
    title, asked = own.title, f"pictures in {count_noun(len(cells), 'square')}"
    try:
        short = {"timeouts": TIMEOUTS, "retries": RETRIES}
        own = picture_settings(file.streetview, file.picture_url).model_copy(update=short)
        title = f"{own.title} ({own.base_url})"
        client, service = open_pictures(file.streetview, own, access)
    except VirlError as fault:
        _, reason, remedy = _failure_of(fault)
        yield OpenOutcome(title, asked, "not asked", reason, run, remedy)
        return
    folder = resources.data_home() / FOLDER / file.streetview
    with closing(service):
        lists = ShotLists(client.shots, folder / "lists", own.keep_days)
        shots, told = _try_ask(lambda: [shot for cell in sorted(cells) for shot in lists.of(cell)])
        district = file.region or district_of(file).region
        inside = [shot for shot in shots or () if district.contains(shot.position)]
        status, detail, remedy = told or ("reached", _density(inside, district.area_m2 / 1e6), "")
        yield OpenOutcome(title, asked, status, detail, run, remedy)
        if not inside:
            return
        shot = min(inside, key=lambda one: distance(one.position, file.center))
        kept = KeptPictures(folder / "pictures", file.streetview, load_open_settings())
        data, told = _try_ask(lambda: kept.get(shot, "sd", lambda: client.picture(shot, "sd")))
        size, author = megabytes(len(data or b"")), shot.author or "no author"
        detail = f"{size}, {author}, {shot.licence or 'no licence'}"
        status, detail, remedy = told or ("reached", detail, "")
        yield OpenOutcome(title, "the picture nearest to the center", status, detail, run, remedy)


def _ask_places(name: str, file: OpenCity, access: Access) -> Iterator[OpenOutcome]:
    """Yield the outcome of asking for the places around the centre, if the city uses Overpass."""
    if file.places != "overpass":
        return
    own, keeping = _brief_service("overpass"), Keeping.of(access, CACHE)
    squares = len(cells_of(district_of(file), ZOOM))
    run = f"{count_noun(squares, 'square')} of the district, kept for {own.keep_days:g} days"

    def probe_nearby() -> str:
        """Ask for the places around the centre, and return their number in words."""
        require("osm", what=f"the places of {name}")
        from virl.platform.providers.open.overpass import OverpassPlaces  # noqa: PLC0415 - needs the extra

        with closing(OverpassPlaces(own, keeping, file.overpass_url)) as source:
            found = TiledPlaces(source, district_of(file)).nearby(file.center, NEAR_M)
            return f"{len(found)} places"

    with closing(keeping):
        asked = f"places within {NEAR_M:g} m of the center"
        yield _ask_service(own, file.overpass_url, asked, probe_nearby, f"{run}. {own.policy}")


def _ask_maps(_: str, file: OpenCity, access: Access) -> Iterator[OpenOutcome]:
    """Yield the outcomes of asking for an address and a route, if the city uses OSRM or Valhalla."""
    if file.maps not in {"osrm", "valhalla"}:
        return
    with closing(Keeping.of(access, CACHE)) as keeping:
        if file.extract is None:
            yield _ask_address(file, keeping)
        yield _ask_route(file, keeping)


def _ask_address(file: OpenCity, keeping: Keeping) -> OpenOutcome:
    """Return the outcome of asking Nominatim for the address nearest to the centre."""
    own = _brief_service("nominatim")

    def nearest() -> str:
        """Return the text of the address nearest to the centre, or "no address"."""
        with closing(Nominatim(own, keeping, district_of(file), file.nominatim_url)) as addresses:
            found = addresses.nearest(file.center, NEAR_M)
            return found.text if found else "no address"

    run = f"addresses that the agent names or shows, kept for {own.keep_days:g} days. {own.policy}"
    return _ask_service(own, file.nominatim_url, "the address of the center", nearest, run)


def _ask_route(file: OpenCity, keeping: Keeping) -> OpenOutcome:
    """Return the outcome of asking OSRM or Valhalla for a short walk from the centre."""
    is_osrm = file.maps == "osrm"
    own = _brief_service("osrm" if is_osrm else "valhalla")
    url = file.osrm_url if is_osrm else file.valhalla_url

    def walk() -> str:
        """Ask for a walk eastward, and return its metres and minutes in words."""
        ways = OsrmWays(own, keeping, url) if is_osrm else ValhallaWays(own, keeping, url)
        with closing(ways):
            found = ways.route([file.center, destination(file.center, 90.0, NEAR_M)])
            return f"{found.distance:.0f} m in {found.duration / 60:.0f} min"

    run = f"routes and tables of durations, kept for {own.keep_days:g} days. {own.policy}"
    return _ask_service(own, url, f"a walk of {NEAR_M:g} m", walk, run)


def _ask_service(
    own: MapServiceSettings, url: str | None, asked: str, ask: Callable[[], str], run: str
) -> OpenOutcome:
    """Return the outcome of calling `ask`; `asked` describes this request, `run` the requests of a run."""
    detail, told = _try_ask(ask)
    status, words, remedy = told or ("reached", detail or "", "")
    return OpenOutcome(f"{own.title} ({shown_url(service_url(own, url))})", asked, status, words, run, remedy)


def _try_ask(ask: Callable[[], AnswerT]) -> tuple[AnswerT | None, Failure | None]:
    """Return (result of `ask`, `None`), or (`None`, its failure as status, reason and remedy)."""
    try:
        return ask(), None
    except NoRoute:
        return None, ("reached", "no route at this position", "")
    except VirlError as fault:
        return None, _failure_of(fault)


def _failure_of(fault: VirlError) -> Failure:
    """Return the (status, reason, remedy) that an error of a service stands for; the remedy may be empty."""
    if not isinstance(fault, ProviderError):
        return "not asked" if isinstance(fault, ModelUnavailable) else "failing", str(fault), ""
    known: dict[int | None, Status] = {401: "refused", 403: "refused", 429: "limited", None: "unreachable"}
    return known.get(fault.status, "failing"), fault.reason, fault.remedy


def _density(shots: Sequence[Shot], km2: float) -> str:
    """Return words on pictures per km2 of the district: number, share of panoramas, years and licences."""
    if not shots:
        return "no pictures in the district"
    whole = sum(shot.fov == FULL_TURN for shot in shots)
    years = sorted({shot.taken.year for shot in shots})
    licences = Counter(shot.licence or "no licence" for shot in shots)
    return (
        f"{len(shots) / km2:,.0f} pictures per km2 ({len(shots):,} in {km2:.2f} km2), "
        f"{100 * whole / len(shots):.0f} % of 360 degrees, {years[0]} to {years[-1]}, "
        f"{', '.join(name for name, _ in licences.most_common())}"
    )


def _brief_service(name: ServiceName) -> MapServiceSettings:
    """Return the settings of a service, with the doctor's short timeouts and few retries."""
    return load_open_maps().of(name).model_copy(update={"timeouts": TIMEOUTS, "retries": RETRIES})

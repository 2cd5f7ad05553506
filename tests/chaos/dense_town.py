"""Helsinki behind Google's formats, and what each agent gets there: a start, a short errand, boxes, homes."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
from chaos.jobs import Job
from chaos.world import FAULTS, KEY, World

from benchmarks.perf.priced_towns import furnish
from virl.agent.character_file import agent_names
from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.platform.providers.cities import open_city
from virl.serve.faults import parse_faults
from virl.serve.google.options import ServeOptions, parse_oddities
from virl.serve.google.server import serve_city

MOVERS = ("links", "grid", "hybrid", "web")
START = LatLng(60.1676, 24.9478)
"""On the Esplanadi: 250 places, 40 benches and some bins within 200 m."""
ODD = "indoor:0.2,stale:0.2,closed:0.2,bare:0.3,far:0.3,vague:0.3"

_CITY = """\
title: Helsinki over HTTP
about: The middle of Helsinki in Google's formats
provider: google
city: Helsinki
district: Keskusta
country: Finland
language: fi
time_zone: Europe/Helsinki
polygon: [[60.1640, 24.9345], [60.1640, 24.9535], [60.1792, 24.9535], [60.1792, 24.9345]]
center: [60.171633, 24.944298]
"""

_GIVEN = {
    "aria": ("recommend.candidates=3", "recommend.within_minutes=5"),
    "diego": ("day.activities=2", "day.reach_m=400"),
    "hiro": ("limits.steps=5",),
    "imani": (
        "region=DATA/square.txt",
        "count.things=[trash bin, bench]",
        "intention=Imani wants to know how trash bins and benches are spread.",
    ),
    "iris": ("limits.steps=5",),
    "june": (),
    "ling": ("limits.steps=25", "follow.to=Kämp Brasserie & Bar", "follow.asks=2"),
    "local": ("directions.to=Hotel Kämp",),
    "mira": ("limits.steps=10",),
    "noor": ("preview.to=Pohjoisesplanadi 27",),
    "otto": ("limits.steps=10",),
    "peng": ('errands={stops: ["Ravintola Savoy", "Pohjoisesplanadi 27", "bank"]}', "limits.steps=25"),
    "rx399": (
        "route=[{lat: 60.16745, lng: 24.94720}, {lat: 60.16760, lng: 24.94780}]",
        "count.things=[trash bin, bench]",
        "limits.steps=10",
    ),
    "vivek": (
        "rent.listings=DATA/homes.json",
        "rent.areas=[{lat: 60.1676, lng: 24.9478, radius: 300}]",
        "rent.walk_metres=300",
    ),
}
"""Fields of each agent's character there, as `--set` takes them."""

_DETECTING = frozenset({"imani", "mira", "noor", "otto", "rx399"})


def crossing_jobs(data: Path) -> list[Job]:
    """A job for every agent and every mover, decided by rules."""
    return [_job(agent, mover, data) for agent in agent_names() for mover in MOVERS]


def _job(agent: str, mover: str, data: Path) -> Job:
    sets = [part for field in _GIVEN[agent] for part in ("--set", field.replace("DATA", str(data)))]
    if agent in _DETECTING:
        sets += ["--detector", "DATA/recorded.yaml"]
    where = ("--city", "DATA/helsinki-http.yaml", "--at", f"{START.lat},{START.lng}", "--mover", mover)
    return Job(f"{agent} {mover}", ("run", agent, *where, "--out", "OUT", "--quiet", *sets), is_paid=True)


@contextmanager
def opened_town(home: Path, extract: Path, *, odd: bool = False) -> Iterator[World]:
    """Serve Helsinki twice, with faults and without, and prepare what agents need there.

    Args:
        home: a folder for everything.
        extract: OpenStreetMap's.
        odd: whether the town has every oddity that the server knows.
    """
    city = open_city(f"{extract}@invented")
    oddities = parse_oddities(ODD if odd else "")
    quick = ServeOptions(page_delay_s=0.0, fine_types=True, odd=oddities)
    flaky = ServeOptions(
        page_delay_s=0.0, fine_types=True, odd=oddities, hang_s=1.0, faults=parse_faults(FAULTS)
    )
    with ExitStack() as stack:
        world = World(
            home, stack.enter_context(serve_city(city, quick)), stack.enter_context(serve_city(city, flaky))
        )
        _prepare(world.data, city)
        _draw_one(world)
        yield world


def _draw_one(world: World) -> None:
    """The first picture takes as long as the renderer takes to be compiled."""
    query = {"location": f"{START.lat},{START.lng}", "size": "64x64", "key": KEY}
    for server in (world.server, world.flaky):
        for _ in range(10):  # one of them fails now and then
            drawn = httpx.get(f"{server.url}/maps/api/streetview", params=query, timeout=900.0)
            if drawn.content.startswith(b"\xff\xd8"):
                break


def _prepare(data: Path, city: City) -> None:
    furnish(data, city, START, "Pohjoisesplanadi", 400.0)
    (data / "helsinki-http.yaml").write_text(_CITY, encoding="utf-8")

"""Cities of open services: killed runs end as whole ones and fetch nothing twice, and faults lose nothing."""

import hashlib
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from chaos.ends import differences, end_of
from chaos.open_world import OpenWorld, faulty, opened_open_world
from chaos.world import LONGEST_S, Process

from virl.errors import NoImagery, ProviderError
from virl.platform.city.city import City
from virl.platform.city.streetview import Camera
from virl.platform.providers.cities import open_city
from virl.platform.providers.http.osm_servers import OpenMapsSettings, load_open_maps
from virl.platform.providers.http.settings import Retries
from virl.platform.providers.open.picture_services import PictureSettings
from virl.platform.providers.open.shots import picture_settings

T = TypeVar("T")

RUN = ("run", "hiro", "--set", "limits.steps=8", "--set", "senses.detector=sign-detector", "--quiet")
IN_FLIGHT = 6
"""Requests that a client may have open at once: a kill loses their answers."""
WALK = 25
"""Panoramas of a walk that looks ahead and sideways at each."""


def seed_of_soak() -> int:
    seed = int(os.environ.get("SOAK_SEED") or random.randrange(10**6))
    sys.stdout.write(f"\nseed {seed}: repeat with SEED={seed}\n")
    return seed


@pytest.mark.slow
def test_killed_runs_fetch_nothing_twice(tmp_path: Path) -> None:
    with opened_open_world(tmp_path) as world:
        assert kill_often(world, tmp_path, kills=2, seed=seed_of_soak()) >= 2


@pytest.mark.soak
def test_runs_killed_many_times_fetch_nothing_twice(tmp_path: Path) -> None:
    kills = int(os.environ.get("SOAK_KILLS") or 200) // 4
    with opened_open_world(tmp_path) as world:
        assert kill_often(world, tmp_path, kills, seed_of_soak()) >= kills


def kill_often(world: OpenWorld, home: Path, kills: int, seed: int) -> int:
    """Kill runs at random moments and continue them, until so many were killed; each must end as a whole one.

    Each run has a cache and data of its own.

    Returns:
        How many processes were killed before they ended.
    """
    rng, done, tried = random.Random(seed), 0, 0
    whole, seconds = run_whole(world, home / "whole")
    while done < kills:
        own = home / f"killed-{tried}"
        own.mkdir()
        world.reset()
        times, tried = min(rng.randint(2, 4), kills - done), tried + 1
        killed = 0
        for _ in range(times):
            process = start(world, own)
            process.wait(rng.uniform(0.2, 0.9) * seconds)
            killed += process.kill()
        assert start(world, own).wait(LONGEST_S) is not None
        assert differences(whole, end_of(own / "run")) == []
        repeated = world.counted("repeated")
        assert repeated.total() <= killed * IN_FLIGHT, repeated
        assert not list((own / "data").rglob("*.part"))
        done += killed
        sys.stdout.write(f"{done} killed, {repeated.total()} answers of the last {times} lost with them\n")
    return done


def run_whole(world: OpenWorld, own: Path) -> tuple[object, float]:
    """The end of a run that nobody kills, and its seconds."""
    own.mkdir()
    world.reset()
    begun = time.monotonic()
    assert start(world, own).wait(LONGEST_S) is not None
    assert world.counted("repeated").total() == 0
    return end_of(own / "run"), time.monotonic() - begun


def start(world: OpenWorld, own: Path) -> Process:
    """Begin the run of a folder, or go on with it."""
    again = ["--resume"] if (own / "run" / "journal.jsonl").is_file() else []
    arguments = [*RUN, "--city", str(world.city_file), "--out", str(own / "run"), *again]
    return Process(arguments, world.environment(own), own / "said.txt")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients that wait for nothing between two tries."""
    short = Retries(further=4, first_wait=0.0, longest_wait=0.01)

    def quick_pictures(name: str, url: str | None = None) -> PictureSettings:
        quick = {"retries": short, "per_minute": 100_000}
        return picture_settings(name, url).model_copy(update=quick)

    def quick_maps() -> OpenMapsSettings:
        loaded = load_open_maps()
        every = {
            name: getattr(loaded, name).model_copy(update={"retries": short})
            for name in type(loaded).model_fields
        }
        return loaded.model_copy(update=every)

    monkeypatch.setattr("virl.platform.providers.open.city.picture_settings", quick_pictures)
    monkeypatch.setattr("virl.platform.providers.open.city.load_open_maps", quick_maps)


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
def test_faults_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert meet_faults(40, seed=1, home=tmp_path, monkeypatch=monkeypatch) >= 40


@pytest.mark.soak
@pytest.mark.usefixtures("impatient")
def test_a_thousand_faults_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert meet_faults(1000, seed_of_soak(), tmp_path, monkeypatch) >= 1000


def meet_faults(faults: int, seed: int, home: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Walk at servers that fail, until they failed so often; what is seen and told must be as without faults.

    Returns:
        How many faults they made.
    """
    met, walk = 0, 0
    while met < faults:
        fresh(home / f"plain-{walk}", monkeypatch)
        with opened_open_world(home) as world:
            wanted = told_on_a_walk(world, seed + walk, patience=0)
        fresh(home / f"faulty-{walk}", monkeypatch)
        with opened_open_world(home, *faulty(seed + walk)) as world:
            assert told_on_a_walk(world, seed + walk, patience=60) == wanted
            met += world.counted("faults").total()
            assert world.counted("repeated").total() == 0
        assert not list(home.rglob("*.part"))
        for picture in home.rglob("pictures/**/*.jpg"):
            assert (picture.parent / "credit.json").is_file()
        walk += 1
        sys.stdout.write(f"{met} faults on {walk} walks\n")
    return met


def fresh(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data and a cache in which nothing is kept."""
    monkeypatch.setenv("VIRL_DATA", str(home / "data"))
    monkeypatch.setenv("VIRL_CACHE", str(home / "cache"))


def told_on_a_walk(world: OpenWorld, seed: int, patience: int) -> list[object]:
    """What a city says of pictures, places, addresses and ways along a random walk.

    Args:
        world: the servers.
        seed: of the walk.
        patience: how often a question may fail altogether, as runs fail that are then resumed.
    """
    rng, told = random.Random(seed), list[object]()
    city = open_city(str(world.city_file))
    try:
        here = asked(patience, city.streetview.nearest, city.center, 300.0)
        assert here is not None
        for step in range(WALK):
            links = [link.pano_id for link in asked(patience, city.streetview.panorama, here.id).links]
            told.append(
                (here.id, sorted(links), asked(patience, seen, city, here.id, here.heading + 90 * step))
            )
            if step % 8 == 0:
                told.append(asked(patience, city.places.nearby, here.position, 150.0))
                told.append(asked(patience, city.maps.route, [here.position, city.center]).path)
            here = asked(patience, city.streetview.panorama, rng.choice(links))
        return told
    finally:
        city.close()


def seen(city: City, pano_id: str, heading: float) -> str:
    """The digest of a view; why there is none, where the picture is gone."""
    try:
        view = city.streetview.view(pano_id, Camera(heading % 360, width=96, height=96))
        return hashlib.sha256(view.pixels.tobytes()).hexdigest()
    except NoImagery:
        return "no imagery"


def asked(patience: int, question: Callable[..., T], *about: object) -> T:
    """An answer, however often the services fail first."""
    for _ in range(patience):
        try:
            return question(*about)
        except ProviderError:
            continue
    return question(*about)

"""Where jobs run: served cities, prepared data, a disk that can be full, and processes that are killed."""

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from virl.platform.providers.cities import open_city
from virl.serve.city_server import ServedCity
from virl.serve.faults import parse_faults
from virl.serve.google.options import ServeOptions
from virl.serve.google.server import serve_city

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
KEY = "AIza-a-key-that-pays-for-nothing-here"
FAULTS = "429:0.03,500:0.03,503:0.02,timeout:0.005,garbage:0.015"
"""A tenth of all replies."""
SIDE_M = 200
LONGEST_S = 400.0


@dataclass(frozen=True)
class World:
    """What all jobs share."""

    home: Path
    server: ServedCity
    flaky: ServedCity
    """The same city, with faults."""

    @property
    def data(self) -> Path:
        """Prepared data."""
        return self.home / "data"

    def environment(self, cache: Path, *, faulty: bool = False, **more: str) -> dict[str, str]:
        """Of a process; with a cache of its own."""
        server = self.flaky if faulty else self.server
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("VIRL_", "CHAOS_"))}
        return kept | {
            "GOOGLE_MAPS_API_KEY": KEY,
            "VIRL_GOOGLE_BASE_URL": server.url,
            "VIRL_CACHE": str(cache),
            "PYTHONPATH": os.pathsep.join((str(HERE / "inject"), str(REPOSITORY))),
            "OMP_NUM_THREADS": "1",
            **more,
        }


@contextmanager
def opened_world(home: Path) -> Iterator[World]:
    """Serve Virlton twice, with faults and without."""
    city = open_city("virlton")
    quick = ServeOptions(page_delay_s=0.0)
    flaky = ServeOptions(page_delay_s=0.0, hang_s=1.0, faults=parse_faults(FAULTS))
    with ExitStack() as stack:
        yield World(
            home, stack.enter_context(serve_city(city, quick)), stack.enter_context(serve_city(city, flaky))
        )


def prepare(world: World, names: Sequence[str]) -> None:
    """Make the data that some jobs need."""
    data = world.data
    data.mkdir(parents=True, exist_ok=True)
    corner = "41.2506,-38.7508 41.2506,-38.7494 41.2496,-38.7494 41.2496,-38.7508"
    (data / "corner.txt").write_text("\n".join(corner.split()) + "\n")
    made = {
        "bench touchdown": [f"data export --out {data}/touchdown --episodes 30"],
        "bench r2r": [f"data export --out {data}/r2r --format r2r --episodes 10"],
        "narrate": [f"run hiro --out {data}/walk --quiet --set limits.steps=4"],
    }
    collected = [
        f"collect {what} --city virlton --region {data}/corner.txt --out {data}/virlton{more}"
        for what, more in (("places", ""), ("vqa", ""), ("routes", " --count 2"))
    ]
    made |= dict.fromkeys(("bench place-localization", "bench place-vqa", "bench vln"), collected)
    wanted = dict.fromkeys(command for name in names for command in made.get(name, ()))
    for command in wanted:
        done = Process(command.split(), world.environment(world.home / "cache"), world.home / "prepare.txt")
        if done.wait(LONGEST_S) != 0:
            raise RuntimeError(f"virl {command}: {done.said()}")


class Process:
    """A `virl` process in a group of its own.

    Args:
        arguments: after `virl`.
        environment: all of it.
        log: where its output goes.
        file_bytes: the largest file that it may write; `None` sets no limit.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        log: Path,
        file_bytes: int | None = None,
    ) -> None:
        self._log = log
        self.started = time.monotonic()

        def limit() -> None:
            if file_bytes is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))

        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "virl", *arguments],
                env=environment,
                cwd=log.parent,
                stdout=output,
                stderr=output,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                preexec_fn=limit,  # noqa: PLW1509 - nothing else runs in between
            )

    def wait(self, seconds: float) -> int | None:
        """Its exit code; `None` if it has not ended by then."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> bool:
        """Kill it, and nobody else; whether it was alive."""
        self._process.send_signal(signal.SIGKILL)
        return self._process.wait() == -signal.SIGKILL

    def ends_alone(self, seconds: float) -> bool:
        """Whether its children end by themselves once it is dead; those that do not are killed."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                os.killpg(self._process.pid, 0)
            except ProcessLookupError:
                return True
            time.sleep(0.05)
        os.killpg(self._process.pid, signal.SIGKILL)
        return False

    def said(self) -> str:
        """The end of what it printed."""
        return self._log.read_text(errors="replace")[-2000:]


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator["SmallDisk"]:
    """A disk of some bytes at a folder, where this process may mount one."""
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=True)
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@dataclass(frozen=True)
class SmallDisk:
    """A mounted disk."""

    folder: Path

    def grow(self) -> None:
        """Make room."""
        subprocess.run(["mount", "-o", "remount,size=512m", str(self.folder)], check=True)


def can_mount() -> bool:
    """Whether this process may mount disks."""
    if os.geteuid() != 0:
        return False
    done = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False)
    return done.returncode == 0

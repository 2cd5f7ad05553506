"""Reads inputs, and keeps those that a reader fails on."""

import hashlib
import random
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from fuzz.mutate import Mutator
from virl.errors import VirlError

MAX_CPU_S = 1.0
"""Seconds of this process that an input may take; the first one of a kind warms up and does not count."""
MAX_WALL_S = 20.0
"""Seconds after which an input counts as a hang, whatever else the machine does."""


@dataclass(frozen=True)
class Kind:
    """A kind of input."""

    name: str
    """Fit for a folder, such as `google-places_text`."""
    seeds: Sequence[bytes]
    """Good inputs."""
    read: Callable[[bytes], object]
    """Reads an input; raises a `VirlError` for a bad one. A seed must not be refused."""
    mutate: Mutator
    weight: int = 1
    """Its share of the inputs."""


@dataclass
class Tally:
    """What became of the inputs of a kind."""

    inputs: int = 0
    refused: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    """Seconds of CPU."""
    failures: list[Path] = field(default_factory=list)


class Hang(BaseException):
    """An input that was read for too long. No `Exception`, so that no reader catches it."""


def fault_of(kind: Kind, data: bytes) -> tuple[str, bool, float]:
    """What is wrong with how an input was read, or nothing; whether it was refused; and seconds of CPU."""
    refused, fault, start = False, "", time.process_time()
    try:
        with _limit(MAX_WALL_S):
            kind.read(data)
    except VirlError as error:
        refused = True
        if len(str(error).splitlines()) != 1:
            fault = f"the message has {len(str(error).splitlines())} lines: {error!r}"
    except Hang:
        fault = f"still busy after {MAX_WALL_S:g} s"
    except Exception as error:  # noqa: BLE001 - every one of them is what is looked for
        fault = f"{type(error).__name__}: {error}"
    seconds = time.process_time() - start
    if not fault and seconds > MAX_CPU_S:
        fault = f"took {seconds:.1f} s"
    return fault[:500], refused, seconds


def fuzz(kind: Kind, count: int, seed: int, failures: Path, tell: Callable[[str], None] = print) -> Tally:
    """Read so many changed seeds of a kind. The same count and seed give the same inputs.

    Args:
        kind: of input.
        count: inputs.
        seed: of chance.
        failures: the folder where inputs are kept that a reader failed on.
        tell: is told of each failure.
    """
    rng, tally, start = random.Random(f"{kind.name} {seed}"), Tally(), time.perf_counter()
    for one in kind.seeds:
        fault, refused, _ = fault_of(kind, one)
        if refused or (fault and not fault.startswith("took")):
            raise AssertionError(f"{kind.name}: a good input is refused: {fault or one[:200]!r}")
    for _ in range(count):
        data = kind.mutate(rng, rng.choice(kind.seeds))
        fault, refused, seconds = fault_of(kind, data)
        tally.inputs += 1
        tally.refused += refused
        tally.slowest = max(tally.slowest, seconds)
        if fault:
            file = failures / kind.name / hashlib.sha256(data).hexdigest()[:16]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
            tally.failures.append(file)
            tell(f"FAILED {file}: {fault}")
    tally.seconds = time.perf_counter() - start
    return tally


def again(kind: Kind, files: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Read inputs that were kept, and say what is wrong with each; empty if nothing is."""
    for file in files:
        yield file, fault_of(kind, file.read_bytes())[0]


@contextmanager
def _limit(seconds: float) -> Iterator[None]:
    def end(number: int, frame: FrameType | None) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

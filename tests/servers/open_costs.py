"""Cost of a step of Hiro on open data, beside Google: requests, bytes, seconds and dollars.

    PYTHONPATH=tests python -m servers.open_costs [--steps 12] [--json]

Hiro walks through Virlton twice on this machine, by rules and with seed 0: over the servers of Panoramax,
Overpass, Nominatim and OSRM, and over `virl serve google`. Each run has a cache and a data folder of its own,
empty at its start. `begun` is what is asked before the first move: lists, the start, a look around.
"""

import json
import os
import subprocess  # our own command # nosec B404
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks.perf.figures import command, figure_table, figures
from servers.options import MapServeOptions, UploadOptions
from servers.town import served_open
from virl.journal.journal import read_journal
from virl.journal.records import StepRecord
from virl.pages.numbers import megabytes
from virl.platform.providers.cities import open_city
from virl.serve.google.options import ServeOptions
from virl.serve.google.server import serve_city

TOWN = "virlton"
CITY = "title: Virlton\nabout: Open data\nprovider: open\nplaces: overpass\nmaps: osrm\ncenter: [{}, {}]\n"


def main() -> None:
    """Measure and print."""
    parser = command(__doc__)
    parser.add_argument("--steps", type=int, default=12, help="most moves of a run")
    options = parser.parse_args()
    with figures(options) as told:
        for name in ("open", "google"):
            with tempfile.TemporaryDirectory() as folder, _town(name, Path(folder)) as (city, environment):
                told[name] = _measured(city, environment, options.steps, Path(folder))
        told.show(_table(told))


@contextmanager
def _town(name: str, folder: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    """A city, as `--city` takes it, and what the environment has to say."""
    town = open_city(TOWN)
    if name == "google":
        with serve_city(town, ServeOptions()) as server:
            yield (
                "virlton-http",
                {"GOOGLE_MAPS_API_KEY": "any-key-of-a-measurement", "VIRL_GOOGLE_BASE_URL": server.url},
            )
        return
    with served_open(town, TOWN, UploadOptions(), MapServeOptions()) as servers:
        file = folder / "open.yaml"
        file.write_text(CITY.format(*town.center), encoding="utf-8")
        yield str(file), servers.environment


def _measured(city: str, environment: Mapping[str, str], steps: int, folder: Path) -> dict[str, Any]:
    out = folder / "run"
    asked = ["run", "hiro", "--city", city, "--set", f"limits.steps={steps}", "--out", str(out)]
    own = {"VIRL_CACHE": str(folder / "cache"), "VIRL_DATA": str(folder / "data")}
    done = subprocess.run(
        [sys.executable, "-m", "virl", *asked],
        env={**os.environ, **environment, **own},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in {0, 1}:
        raise SystemExit(f"{city}: {done.stderr.strip()[-500:]}")
    records = [one for one in read_journal(out / "journal.jsonl") if isinstance(one, StepRecord)]
    moves = records[1:]
    if not moves:
        raise SystemExit(f"{city}: no move was made")
    return {
        "moves": len(moves),
        "begun": _sums(records[:1], 1),
        "step": _sums(moves, len(moves)),
        "usd": json.loads((out / "result.json").read_text(encoding="utf-8"))["cost"]["usd"],
    }


def _sums(records: list[StepRecord], count: int) -> dict[str, Any]:
    sent, received = Counter[str](), Counter[str]()
    for record in records:
        sent.update(record.requests.sent)
        received.update(record.requests.received)
    return {
        "requests": {name: asked / count for name, asked in sorted(sent.items())},
        "bytes": {name: size / count for name, size in sorted(received.items())},
        "seconds": sum(record.seconds for record in records) / count,
        "usd": sum(record.requests.usd for record in records) / count,
    }


def _table(told: Mapping[str, Any]) -> Table:
    table = figure_table("", "moves", "requests", "received", "seconds", "dollars")
    for name, run in told.items():
        for part in ("begun", "step"):
            found = run[part]
            table.add_row(
                f"{name}, {part}",
                str(run["moves"]) if part == "step" else "",
                f"{sum(found['requests'].values()):.1f}",
                megabytes(round(sum(found["bytes"].values()))),
                f"{found['seconds']:.1f}",
                f"{found['usd']:.4f}",
            )
    return table


if __name__ == "__main__":
    main()

"""What a run of each agent and an episode of each benchmark is billed by Google, at the list prices.

    python -m benchmarks.perf.prices [--agents hiro,aria] [--benchmarks vln] [--towns thin,dense]
        [--extract FILE] [--write] [--json]

Each runs once, by rules, seed 0 and the default mover, against `virl serve google` on this machine, with a
cache of its own. `thin` is Virlton; `dense` is the middle of Helsinki from an OpenStreetMap extract, with
invented reviews and fine types, from a start in its middle. Events are those of the run's spending book.
`--write` puts them into `platform/measured_costs.yaml`, which `virl doctor` and `virl run --dry-run` read;
what was not measured this time stays as it is. Nothing is sent to Google.
"""

import json
import os
import subprocess  # our own command # nosec B404
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from rich.table import Table

from virl import resources
from virl.doctor.measured import DENSITIES, FILE, Density, MeasuredCosts, MeasuredWork, measured_costs, prices
from virl.errors import BadInput
from virl.geo.globe import LatLng, destination
from virl.money.book import SPENDING
from virl.platform.providers.google.settings import GoogleSettings, load_google_settings

from .figures import command, figure_table, figures
from .priced_towns import CENTERS, TOWNS, served_town

AGENTS = (
    *("hiro", "peng", "local", "ling", "aria", "diego"),
    *("rx399", "imani", "vivek", "june", "mira", "otto", "noor", "iris"),
)
BENCHMARKS = (
    "collect-places",
    "collect-routes",
    "collect-vqa",
    "place-localization",
    "place-recognition",
    "place-vqa",
    "vln",
)
"""Benchmarks and collections to price, collections first, as the benchmarks run on their data."""
EPISODES = 3
AROUND_M = 80.0  # half the side of the region whose places are collected
HOW = (
    "one run each by rules, seed 0, default mover, against `virl serve google`; Hiro and Iris with 12 moves "
    "at most, Imani in a square of 50 m, boxes of benches and bins from a file"
)


def main() -> None:
    """Measure and print the billed events, and write them to the file if asked."""
    parser = command(__doc__)
    parser.add_argument("--agents", default=",".join(AGENTS))
    parser.add_argument("--benchmarks", default=",".join(BENCHMARKS))
    parser.add_argument("--towns", default=",".join(DENSITIES))
    parser.add_argument("--extract", default="helsinki.osm.pbf", help="of OpenStreetMap, for the dense town")
    parser.add_argument("--write", action="store_true", help=f"write platform/{FILE}")
    options = parser.parse_args()
    agents, benches, towns = (
        [name for name in text.split(",") if name]
        for text in (options.agents, options.benchmarks, options.towns)
    )
    settings = load_google_settings()
    path = resources.data_folder("platform") / FILE
    known = measured_costs() if path.is_file() else None
    found: dict[str, dict[str, Any]] = known.model_dump(mode="json") if known else {}
    for town in towns:
        for name, work in _measure_costs(town, options.extract, agents, benches, settings).items():
            kind = "agents" if name in agents else "benchmarks"
            found.setdefault(kind, {}).setdefault(name, {})[town] = work.model_dump(mode="json")
    costs = MeasuredCosts.model_validate(
        found | {"measured": datetime.now(UTC).date(), "how": HOW, "towns": TOWNS}
    )
    with figures(options) as told:
        told.update(costs.model_dump(mode="json"))
        told.show(_prices_table(settings, costs))
    if options.write:
        path.write_text(as_yaml(costs), encoding="utf-8")


def _measure_costs(
    density: Density, extract: str, agents: Sequence[str], benches: Sequence[str], settings: GoogleSettings
) -> dict[str, MeasuredWork]:
    """Return what each agent and benchmark was billed in a town; failed ones are told and left out."""
    found = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        served_town(density, extract, Path(folder, "given")) as (_, town),
    ):
        home = Path(folder)
        region, data = home / "region.geojson", home / "data"
        collected = data / "collected" / Path(town.city).stem
        region.write_text(json.dumps(_square(CENTERS[density])), encoding="utf-8")
        for name in (*agents, *benches):
            out = home / f"run-{name}"
            environment = os.environ | town.environment
            environment |= {"VIRL_CACHE": str(home / f"cache-{name}"), "VIRL_DATA": str(data)}
            before = len(_lines_of(collected / "work" / SPENDING))
            if name in agents:
                asked = town.run(name, out)
            elif name.startswith("collect-"):
                what = name.removeprefix("collect-")
                count = ["--count", str(EPISODES)] if what == "routes" else []
                asked = ["collect", what, *count, "--region", str(region), "--out", str(collected)]
                asked += ["--city", town.city]
            else:
                asked = ["bench", name, "--limit", str(EPISODES), "--budget-usd", "20", "--out", str(out)]
                asked += ["--city", town.city]
            done = subprocess.run(  # noqa: S603 - our own command # nosec B603
                [sys.executable, "-m", "virl", *asked],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                print(f"{name} in {density}: {done.stderr.strip()[-300:]}", file=sys.stderr)
                continue
            if name in agents:
                moves = json.loads((out / "result.json").read_text(encoding="utf-8"))["steps"]
                events = events_of(_lines_of(out / SPENDING), settings)
                found[name] = MeasuredWork(unit="run", units=1, moves=moves, events=events)
            elif name.startswith("collect-"):
                what = name.removeprefix("collect-")
                events = events_of(_lines_of(collected / "work" / SPENDING)[before:], settings)
                rows = "questions" if what == "vqa" else what
                units = len(_lines_of(collected / f"{rows}.jsonl"))
                found[name] = MeasuredWork(unit=rows.removesuffix("s"), units=units, events=events)
            else:
                events = events_of(_lines_of(out / SPENDING), settings)
                found[name] = MeasuredWork(unit="episode", units=EPISODES, events=events)
    return found


def _lines_of(file: Path) -> list[str]:
    """Return the lines of a file; empty if it is missing."""
    return file.read_text(encoding="utf-8").splitlines() if file.is_file() else []


def _square(center: tuple[float, float]) -> dict[str, Any]:
    """Return a GeoJSON square around (lat, lng), `AROUND_M` metres to each side."""
    middle = LatLng(*center)
    low = destination(destination(middle, 180.0, AROUND_M), 270.0, AROUND_M)
    high = destination(destination(middle, 0.0, AROUND_M), 90.0, AROUND_M)
    ring = [(low.lng, low.lat), (high.lng, low.lat), (high.lng, high.lat), (low.lng, high.lat)]
    return {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}


def events_of(book: Sequence[str], settings: GoogleSettings) -> dict[str, int]:
    """Return the number of billable events by SKU in the lines of a spending book."""
    sums: Counter[tuple[str, int]] = Counter()
    for line in book:
        entry = json.loads(line)
        sign = 1 if entry["micro_usd"] >= 0 else -1
        sums[entry["request"], abs(round(entry["micro_usd"]))] += sign
    events: Counter[str] = Counter()
    for (endpoint, micro), count in sums.items():
        if micro and count:
            sku, each = _sku(settings, endpoint, micro)
            events[sku] += count * each
    return dict(sorted(events.items()))


def _sku(settings: GoogleSettings, endpoint: str, micro: int) -> tuple[str, int]:
    """Return (SKU, number of events) that a sum in millionths of a dollar was billed as."""
    at = settings.endpoint(endpoint)
    names = [at.sku, *at.tiers.values(), *filter(None, [at.advanced_sku])]
    for name in names:
        each = settings.skus[name].micro_usd
        if each and (micro == each or (at.per == "element" and micro % each == 0)):
            return name, micro // each
    raise BadInput(f"{endpoint}: no SKU costs {micro} millionths of a dollar")


def as_yaml(costs: MeasuredCosts) -> str:
    """Return the measured costs as the text of their YAML file."""
    data = costs.model_dump(mode="json")
    head = (
        "# What runs and episodes were billed: billable events by SKU of platform/providers/google.yaml.\n"
        "# Written by `python -m benchmarks.perf.prices --write`; do not edit.\n"
    )
    text: str = yaml.safe_dump(data, sort_keys=False, width=110, allow_unicode=True, default_flow_style=None)
    return head + text


def _prices_table(settings: GoogleSettings, costs: MeasuredCosts) -> Table:
    """Return the table of dollars at list prices, by unit of work and town."""
    table = figure_table("", *DENSITIES, title="dollars at list prices")
    for one in prices(settings, costs):
        table.add_row(one.unit, *(f"{one.usd[town]:.3f}" if town in one.usd else "-" for town in DENSITIES))
    return table


if __name__ == "__main__":
    main()

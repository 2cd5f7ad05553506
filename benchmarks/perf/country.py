"""Opening a part of an extract as large as a country: seconds of a core and megabytes against a town's.

    python -m benchmarks.perf.country TOWN.osm.pbf LAT,LNG [--copies 17]

The country is the town again and again, side by side; Liechtenstein 17 times has 300,000 houses.
"""

import os
import subprocess  # nosec B404
import sys
from math import ceil, sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import osmium
from osmium.osm import mutable

from .figures import command, figure_table, figures

_OPEN = """
import resource, sys, virl
virl.open_city(sys.argv[1])
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""
_KINDS = (osmium.osm.NODE, osmium.osm.WAY, osmium.osm.RELATION)


def main() -> None:
    """Write a country of copies of a town, and print what opening a square costs in it and in the town."""
    parser = command(__doc__)
    parser.add_argument("town", type=Path, help="extract of a town")
    parser.add_argument("around", help="middle of the square that is opened in both")
    parser.add_argument("--copies", type=int, default=17)
    options = parser.parse_args()
    with figures(options) as found, TemporaryDirectory() as folder:
        country = repeat_town(options.town, options.copies, Path(folder, "country.osm.pbf"))
        table = figure_table("extract", "MB", "CPU s", "MB of memory")
        for name, file in (("town", options.town), ("country", country)):
            seconds, megabytes = _opening_cost(file, options.around)
            size = file.stat().st_size / 1e6
            table.add_row(name, f"{size:.1f}", f"{seconds:.1f}", f"{megabytes:.0f}")
            found[name] = {"file_mb": size, "cpu_seconds": seconds, "memory_mb": megabytes}
        found.show(table)


def _opening_cost(file: Path, around: str) -> tuple[float, float]:
    """Return (CPU seconds, megabytes of memory) of opening the square around "LAT,LNG" uncached."""
    with TemporaryDirectory() as cache:
        python = [sys.executable, "-c", _OPEN, f"{file}@{around}"]
        env = os.environ | {"VIRL_CACHE": cache}
        done = subprocess.run(python, env=env, capture_output=True, text=True, check=True)  # noqa: S603 # nosec
    seconds, megabytes = map(float, done.stdout.split())
    return seconds, megabytes


def repeat_town(town: Path, copies: int, out: Path) -> Path:
    """Write an extract with `copies` of a town side by side, each with numbers of its own; return it.

    Args:
        town: an extract.
        copies: how often the town stands in it, the original included.
        out: the file to write.
    """
    nodes = osmium.FileProcessor(str(town), osmium.osm.NODE)
    spots = [one.location for one in nodes if isinstance(one, osmium.osm.Node)]
    across, up = (max(side) - min(side) for side in ([at.x for at in spots], [at.y for at in spots]))
    numbers = max(one.id for one in osmium.FileProcessor(str(town)))
    columns = ceil(sqrt(copies))
    head = osmium.io.Header()
    head.set("sorting", "Type_then_ID")  # as the extracts of countries say
    with osmium.SimpleWriter(str(out), header=head, overwrite=True) as writer:
        for kind in _KINDS:
            for copy in range(copies):
                east, north = (copy % columns) * across, (copy // columns) * up
                for one in osmium.FileProcessor(str(town), kind):
                    writer.add(_move(one, copy * numbers, east, north))
    return out


def _move(one: Any, further: int, east: int, north: int) -> Any:
    """Return a copy of an OpenStreetMap object with other numbers; a node also elsewhere, in 1e-7 degrees."""
    number, tags = one.id + further, dict(one.tags)
    if isinstance(one, osmium.osm.Node):
        at = (one.location.x + east) / 1e7, (one.location.y + north) / 1e7
        return mutable.Node(id=number, location=at, tags=tags)
    if isinstance(one, osmium.osm.Way):
        return mutable.Way(id=number, nodes=[node.ref + further for node in one.nodes], tags=tags)
    members = [(member.type, member.ref + further, member.role) for member in one.members]
    return mutable.Relation(id=number, members=members, tags=tags)


if __name__ == "__main__":
    main()

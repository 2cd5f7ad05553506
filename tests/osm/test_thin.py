"""Parts of large PBF files: compiled code leaves out what is far, and what is read of them stays the same."""

from pathlib import Path

import osmium
import pytest
from made_extract import FRAME, made_extract
from osmium.osm import mutable

from benchmarks.perf.country import repeat_town
from virl.errors import BadInput
from virl.osm import cut as cutting
from virl.osm import thin as thinning
from virl.osm.blobs import thin
from virl.osm.box import box_around, region_around
from virl.osm.extract import read_extract
from virl.osm.thin import cut_part, newest_day

COPIES = 64
MIDDLE = FRAME.position(180, 180)


@pytest.fixture(scope="module")
def country(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A town again and again, with a road that passes through the middle of one without a node there."""
    folder = tmp_path_factory.mktemp("country")
    town, first = folder / "town.osm.pbf", made_extract(folder / "first.osm.pbf", size=7)
    far = [FRAME.position(-400, 170), FRAME.position(900, 190)]
    with osmium.SimpleWriter(str(town)) as writer:
        for kind in (osmium.osm.NODE, osmium.osm.WAY, osmium.osm.RELATION):
            for one in osmium.FileProcessor(str(first), kind):
                writer.add(one)
            if kind == osmium.osm.NODE:
                for number, at in enumerate(far):
                    writer.add_node(mutable.Node(id=90_001 + number, location=(at.lng, at.lat)))
            elif kind == osmium.osm.WAY:
                tags = {"highway": "primary", "name": "Through Road"}
                writer.add_way(mutable.Way(id=90_001, nodes=[90_001, 90_002, 99_999], tags=tags))
                writer.add_way(mutable.Way(id=90_002, nodes=[90_001, 90_002], tags=tags))
                writer.add_way(mutable.Way(id=90_003, nodes=[1, 2, 90_001, 1], tags={}))
            else:
                tags = {"type": "multipolygon", "landuse": "grass"}
                writer.add_relation(mutable.Relation(id=1, members=[("w", 90_003, "outer")], tags=tags))
    return repeat_town(town, COPIES, folder / "country.osm.pbf")


@pytest.mark.parametrize("radius", [60, 200, 2000])
def test_a_part_is_the_same_and_far_ways_are_not_looked_at(
    country: Path, tmp_path: Path, radius: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[int] = []
    add = cutting._TouchingWays.add

    def look_at(ways: cutting._TouchingWays, way: osmium.osm.Way) -> None:
        looked_at.append(way.id)
        add(ways, way)

    monkeypatch.setattr(cutting._TouchingWays, "add", look_at)
    parts, counts = [], []
    for least in (1e9, 0):
        monkeypatch.setattr(thinning, "FAST_FROM_MB", least)
        parts.append(tmp_path / f"{least:.0f}.osm.pbf")
        cut_part(country, region_around(MIDDLE, radius), parts[-1])
        counts.append(len(looked_at))
        looked_at.clear()
    assert parts[0].read_bytes() == parts[1].read_bytes()
    ways = osmium.FileProcessor(str(parts[1]), osmium.osm.WAY)
    assert "Through Road" in {one.tags.get("name") for one in ways if isinstance(one, osmium.osm.Way)}
    assert counts[1] < counts[0] / (COPIES / 9 if radius == 2000 else COPIES)


def test_a_thinned_file_has_only_blobs_with_something_of_the_part(country: Path, tmp_path: Path) -> None:
    thinned = tmp_path / "thin.osm.pbf"
    assert thin(country, box_around(region_around(MIDDLE, 200)), thinned)
    assert thinned.stat().st_size < country.stat().st_size


def test_a_part_across_longitude_180_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "fiji.osm.pbf"
    spots = {1: (179.999, -16.0), 2: (-179.999, -16.0), 3: (179.9, -16.0), 4: (-179.9, -16.001)}
    with osmium.SimpleWriter(str(file)) as writer:
        for number, at in spots.items():
            writer.add_node(mutable.Node(id=number, location=at))
        for number, nodes in enumerate(([1, 3], [2, 4], [3, 4]), 1):
            writer.add_way(mutable.Way(id=number, nodes=nodes, tags={"highway": "residential"}))
    parts = []
    for least in (1e9, 0):
        monkeypatch.setattr(thinning, "FAST_FROM_MB", least)
        parts.append(tmp_path / f"{least:.0f}.osm.pbf")
        cut_part(file, region_around(FRAME.origin._replace(lat=-16.0, lng=180.0), 600), parts[-1])
    assert parts[0].read_bytes() == parts[1].read_bytes()


@pytest.mark.parametrize("dense", ["true", "false"])
def test_the_newest_object_tells_the_day(tmp_path: Path, dense: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = osmium.io.File(str(tmp_path / "a.osm.pbf"), f"pbf,pbf_dense_nodes={dense}")
    with osmium.SimpleWriter(file) as writer:
        for number, stamp in enumerate(
            ("2020-01-01T00:00:00Z", "2021-03-04T05:06:07Z", "2019-01-01T00:00:00Z")
        ):
            writer.add_node(mutable.Node(id=number + 1, location=(0.0, 0.0), timestamp=stamp))
        writer.add_way(mutable.Way(id=1, nodes=[1, 2], timestamp="2020-05-05T00:00:00Z"))
    for least in (1e9, 0):
        monkeypatch.setattr(thinning, "FAST_FROM_MB", least)
        assert newest_day(tmp_path / "a.osm.pbf") == "2021-03-04"


def test_what_is_not_sorted_or_damaged_is_left_to_osmium(
    country: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thinning, "FAST_FROM_MB", 0)
    box = box_around(region_around(MIDDLE, 200))
    damaged = tmp_path / "damaged.osm.pbf"
    data = country.read_bytes()
    damaged.write_bytes(data[: len(data) // 2] + bytes(400) + data[len(data) // 2 + 400 :])
    assert thin(damaged, box, tmp_path / "a") is None
    with pytest.raises(BadInput, match="cannot be read as an OpenStreetMap extract"):
        read_extract(damaged, region_around(MIDDLE, 200))
    packed = tmp_path / "packed.osm.pbf"
    with osmium.SimpleWriter(osmium.io.File(str(packed), "pbf,pbf_compression=lz4")) as writer:
        writer.add_node(mutable.Node(id=1, location=(0.0, 0.0), timestamp="2021-03-04T05:06:07Z"))
    assert thin(packed, box, tmp_path / "c") is None
    assert newest_day(packed) == "2021-03-04"
    unsorted = tmp_path / "unsorted.osm.pbf"
    with osmium.SimpleWriter(str(unsorted)) as writer:
        for number in (2, 1):
            writer.add_node(mutable.Node(id=number, location=(MIDDLE.lng, MIDDLE.lat + number / 1e4)))
        writer.add_way(mutable.Way(id=1, nodes=[1, 2], tags={"highway": "residential"}))
    assert thin(unsorted, box, tmp_path / "b") is None
    assert len(read_extract(unsorted, region_around(MIDDLE, 200)).lines.ids) == 1

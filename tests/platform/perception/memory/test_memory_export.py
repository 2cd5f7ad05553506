import csv
import json
from pathlib import Path

import pytest
import shapely
from made_world import STREET_THINGS, Thing, open_memory, sighting, walk

from virl.platform.perception.memory import CannotWrite, VisualMemory, geojson, write_csv, write_geojson


@pytest.fixture
def memory(tmp_path: Path) -> VisualMemory:
    memory = open_memory(tmp_path / "memory")
    walk(memory, STREET_THINGS, [(0.0, 10.0 * i) for i in range(5)])
    return memory


def test_the_table_has_a_row_for_each_object(memory: VisualMemory, tmp_path: Path) -> None:
    write_csv(memory.objects(), tmp_path / "objects.csv")
    with (tmp_path / "objects.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [thing.id for thing in memory.objects()]
    for row, thing in zip(rows, memory.objects(), strict=True):
        assert float(row["lat"]) == pytest.approx(thing.estimate.position.lat, abs=1e-7)
        assert float(row["lng"]) == pytest.approx(thing.estimate.position.lng, abs=1e-7)
        assert int(row["panoramas"]) == len(thing.panoramas)


def test_labels_are_no_formulas(tmp_path: Path) -> None:
    memory = open_memory(tmp_path / "memory")
    memory.add([sighting(Thing(5.0, 10.0, label='=1+1,"x"'), 0.0, 0.0)])[0]
    write_csv(memory.objects(), tmp_path / "objects.csv")
    with (tmp_path / "objects.csv").open(newline="") as file:
        assert next(csv.DictReader(file))["label"] == '\'=1+1,"x"'


def test_geojson_is_read_by_others_with_longitude_first(memory: VisualMemory, tmp_path: Path) -> None:
    write_geojson(memory.objects(), tmp_path / "objects.geojson")
    text = (tmp_path / "objects.geojson").read_text()
    points = shapely.from_geojson(text).geoms
    for point, feature, thing in zip(points, json.loads(text)["features"], memory.objects(), strict=True):
        assert point.y == pytest.approx(thing.estimate.position.lat, abs=1e-7)
        assert point.x == pytest.approx(thing.estimate.position.lng, abs=1e-7)
        assert feature["id"] == thing.id
        assert feature["properties"]["label"] == "trash bin"
        assert feature["properties"]["views"] == len(thing.views)


def test_nothing_gives_an_empty_collection() -> None:
    assert geojson([]) == {"type": "FeatureCollection", "features": []}


def test_a_place_that_cannot_be_written_is_named(memory: VisualMemory, tmp_path: Path) -> None:
    (tmp_path / "nowhere").write_text("in the way")
    with pytest.raises(CannotWrite, match="nowhere"):
        write_csv(memory.objects(), tmp_path / "nowhere" / "objects.csv")

"""Places of Overture Maps, from GeoParquet files that are written here as its releases write them."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

from tests.platform.providers.open.conftest import write_city
from virl.errors import BadInput, ModelUnavailable, NotFound
from virl.geo.globe import LatLng
from virl.osm.box import Box
from virl.osm.places import type_table
from virl.platform.city.place_types import types_named
from virl.platform.providers.cities import Access, opened_city, read_city
from virl.platform.providers.open.overture import OF_EVERY_PLACE, OverturePlaces, types_of

BOX = Box(41.249, -38.751, 41.251, -38.749)
TEXTS = pa.list_(pa.string())
PLACE = pa.schema(
    {
        "id": pa.string(),
        "geometry": pa.binary(),
        "bbox": pa.struct(dict.fromkeys(("xmin", "xmax", "ymin", "ymax"), pa.float32())),
        "names": pa.struct({"primary": pa.string(), "common": pa.map_(pa.string(), pa.string())}),
        "taxonomy": pa.struct({"primary": pa.string(), "hierarchy": TEXTS, "alternates": TEXTS}),
        "basic_category": pa.string(),
        "categories": pa.struct({"primary": pa.string(), "alternate": TEXTS}),
        "confidence": pa.float64(),
        "websites": TEXTS,
        "phones": TEXTS,
        "brand": pa.struct({"names": pa.struct({"primary": pa.string()}), "wikidata": pa.string()}),
        "addresses": pa.list_(
            pa.struct(dict.fromkeys(("freeform", "locality", "postcode", "region", "country"), pa.string()))
        ),
        "operating_status": pa.string(),
        "sources": pa.list_(
            pa.struct(dict.fromkeys(("property", "dataset", "license", "record_id"), pa.string()))
        ),
    }
)
META = [{"property": "", "dataset": "meta", "license": "CDLA-Permissive-2.0", "record_id": "1"}]


def row(place_id: str, name: str, at: tuple[float, float] = (41.25, -38.75), **told: Any) -> dict[str, Any]:
    lat, lng = at
    return {
        "id": place_id,
        "geometry": shapely.to_wkb(shapely.Point(lng, lat)),
        "bbox": {"xmin": lng, "xmax": lng, "ymin": lat, "ymax": lat},
        "names": {"primary": name, "common": None},
        "confidence": 0.9,
        "operating_status": "open",
        "sources": META,
    } | told


ROWS = [
    row(
        "cafe",
        "Café Moka",
        names={"primary": "Café Moka", "common": [("en", "Mocha Café"), ("fr", "Café Moka")]},
        taxonomy={"primary": "coffee_shop", "hierarchy": ["food_and_drink", "coffee_shop"], "alternates": []},
        basic_category="cafe",
        websites=["https://moka.example/"],
        phones=["+33 3 00 00 00 00", "+33 3 11"],
        addresses=[{"freeform": "3 Quai Rouge", "locality": "Strasbourg", "postcode": "67000"}],
        brand={"names": {"primary": "Moka"}, "wikidata": None},
    ),
    row(
        "older",
        "Da Enzo",
        (41.2502, -38.7501),
        categories={"primary": "italian_restaurant", "alternate": ["bar"]},
    ),
    row(
        "gone",
        "Once a Bank",
        (41.2503, -38.7502),
        operating_status="permanently_closed",
        basic_category="bank",
    ),
    row("odd", "Drones & Sons", (41.2504, -38.7503), basic_category="drone_store"),
    row("doubted", "Perhaps", confidence=0.1),
    row("nameless", " "),
    row("far", "Far Away", (41.3, -38.75)),
    row("licensed", "Fnac", (41.2495, -38.7499), sources=[META[0] | {"license": "Apache-2.0"}]),
    row("line", "A Line", geometry=shapely.to_wkb(shapely.LineString([(-38.75, 41.25), (-38.74, 41.25)]))),
]

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(
        rows: list[dict[str, Any]] = ROWS, name: str = "places.parquet", schema: pa.Schema = PLACE
    ) -> Path:
        pq.write_table(pa.Table.from_pylist(rows, schema), tmp_path / name)
        return tmp_path / name

    return written


def test_places_of_a_box_have_names_types_addresses_and_facts(write: Write) -> None:
    found = {one.place.id: one for one in OverturePlaces(write()).places_within(BOX)}
    assert set(found) == {"cafe", "older", "gone", "odd", "licensed"}
    cafe = found["cafe"].place
    assert (cafe.name, cafe.address) == ("Café Moka", "3 Quai Rouge, 67000 Strasbourg")
    assert cafe.types[0] == "cafe"
    assert "food" in cafe.types
    assert cafe.facts == (
        ("phone", "+33 3 00 00 00 00"), ("website", "https://moka.example/"), ("brand", "Moka")
    )  # fmt: skip
    assert (cafe.rating, cafe.hours, cafe.is_open) == (None, (), True)
    assert cafe.position == pytest.approx(LatLng(41.25, -38.75))
    assert found["cafe"].also == ("Mocha Café",)
    assert found["older"].place.types[:2] == ("italian_restaurant", "restaurant")
    assert not found["gone"].place.is_open
    assert found["odd"].place.types == OF_EVERY_PLACE


def test_one_place_is_found_by_its_id(write: Write) -> None:
    places = OverturePlaces(write())
    assert places.find_one("far").place.name == "Far Away"
    with pytest.raises(NotFound, match="no place has the id 'never'"):
        places.find_one("never")


def test_a_folder_of_files_is_one_source_and_its_licences_are_named(write: Write, tmp_path: Path) -> None:
    write(ROWS[:4])
    write(ROWS[4:], "more.parquet")
    places = OverturePlaces(tmp_path)
    assert len(places.places_within(BOX)) == 5
    assert places.credit(BOX) == "Places: Overture Maps Foundation (Apache-2.0, CDLA-Permissive-2.0)"
    assert "licence not given" in places.credit(Box(0, 0, 1, 1))


def test_columns_that_a_release_lacks_are_unknown(write: Write) -> None:
    few = pa.schema([field for field in PLACE if field.name in {"id", "geometry", "bbox", "names"}])
    [place] = [one.place for one in OverturePlaces(write(ROWS[:1], schema=few)).places_within(BOX)]
    assert (place.name, place.types, place.address, place.facts) == ("Café Moka", OF_EVERY_PLACE, "", ())


def test_what_is_no_file_of_places_is_refused_in_one_line(write: Write, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no such file: download .*overturemaps download"):
        OverturePlaces(tmp_path / "none.parquet")
    (tmp_path / "text.parquet").write_text("not parquet")
    with pytest.raises(BadInput, match="is not a Parquet file") as told:
        OverturePlaces(tmp_path / "text.parquet")
    assert "\n" not in str(told.value)
    other = pa.schema({"id": pa.string(), "names": PLACE.field("names").type})
    with pytest.raises(BadInput, match="the columns geometry, bbox are missing"):
        OverturePlaces(write(ROWS[:1], "roads.parquet", other))


def test_a_damaged_file_is_told_when_it_is_read(write: Write) -> None:
    file = write(ROWS * 50)
    places, data = OverturePlaces(file), bytearray(file.read_bytes())
    data[4 : len(data) // 2] = bytes(len(data) // 2 - 4)
    file.write_bytes(data)
    with pytest.raises(BadInput, match=r"cannot be read .*download it again"):
        places.places_within(BOX)


def test_a_city_has_them_and_names_overture(write: Write, tmp_path: Path, data: Path) -> None:
    (data / "overture").mkdir(parents=True)
    write().rename(data / "overture" / "here.parquet")
    file = write_city(
        tmp_path / "open.yaml", places="overture", overture="here.parquet", panoramax_url="http://127.0.0.1:9"
    )
    with opened_city(file, Access()) as city:
        assert "Overture Maps Foundation (Apache-2.0, CDLA-Permissive-2.0)" in city.attribution
        assert [place.id for place in city.places.nearby(city.center, 100, ["cafe"])] == ["cafe"]
        assert city.places.search("mocha")[0].id == "cafe"
        assert city.places.details("far").name == "Far Away"
        assert city.capabilities.has_free_lookup
        assert city.lacks == "Open has no reviews, ratings or prices"


def test_a_city_file_names_the_file_and_the_extra_is_told(
    write: Write, tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BadInput, match="needs `overture: FILE`"):
        read_city(Path(write_city(tmp_path / "open.yaml", places="overture")))
    (data / "overture").mkdir(parents=True)
    write().rename(data / "overture" / "here.parquet")
    file = write_city(
        tmp_path / "open.yaml", places="overture", overture="here.parquet", panoramax_url="http://127.0.0.1:9"
    )
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with (
        pytest.raises(ModelUnavailable, match=r"here.parquet needs pyarrow: pip install 'virl\[overture\]'"),
        opened_city(file, Access()),
    ):
        pass


def test_every_category_becomes_types_that_places_have_elsewhere() -> None:
    known = {kind for values in type_table().values() for types in values.values() for kind in types}
    assert {kind for types in types_named("overture").values() for kind in types} <= known
    assert types_of(["pizzaria", "restaurant"])[:3] == ("pizza_restaurant", "restaurant", "food")
    assert types_of([]) == OF_EVERY_PLACE

"""A file of RentCast records: what is read, and what is named and left out."""

import json
from pathlib import Path

import pytest
from contracts import ListingsContract
from made_quarter import home, quarter
from rentcast_server import record
from shapely import box

from virl.errors import BadInput
from virl.platform.city.city import City
from virl.platform.providers.rentcast.file import read_listings

EVERYWHERE = box(-180, -90, 180, 90)


def write(folder: Path, records: object) -> Path:
    file = folder / "homes.json"
    file.write_text(json.dumps(records), encoding="utf-8")
    return file


class TestFileListings(ListingsContract):
    @pytest.fixture
    def city(self) -> City:
        return quarter([], [home("a", 0, 1200), home("b", 100, 900), home("c", 50, 1500)])


def test_broken_records_are_named_and_the_others_read(tmp_path: Path) -> None:
    without_price = {name: value for name, value in record(5).items() if name != "price"}
    broken = [
        record(1, price="a lot"),
        record(2, latitude=None),
        record(3, latitude=300),
        without_price,
        "no record",
        record(0),
    ]
    read = read_listings(write(tmp_path, [record(0), *broken, record(7, yearBuilt=None)]))
    assert [one.price for one in read.all] == [1500, 1507]
    assert [fault.partition(": ")[0] for fault in read.faults] == [
        "1 Main St, Austin, TX 78701",
        "2 Main St, Austin, TX 78701",
        "3 Main St, Austin, TX 78701",
        "5 Main St, Austin, TX 78701",
        "record 6",
        "0 Main St, Austin, TX 78701",
    ]
    assert "price" in read.faults[0]
    assert read.faults[1].endswith("latitude is missing")
    assert read.faults[3].endswith("price is missing")
    assert read.faults[5].endswith("is repeated")


def test_what_a_record_leaves_out_of_size_and_age_is_unknown(tmp_path: Path) -> None:
    small = {"bedrooms", "bathrooms", "squareFootage", "yearBuilt"}
    bare = {name: value for name, value in record(5).items() if name not in small}
    notes = list[str]()
    odd_ones = [bare, record(6, bedrooms=-1), record(7, bedrooms=1.6)]
    read = read_listings(write(tmp_path, odd_ones), lambda reason, _: notes.append(reason))
    found, odd, fraction = read.all
    assert (odd.bedrooms, fraction.bedrooms) == (None, 2)
    assert (found.bedrooms, found.bathrooms, found.area, found.year_built) == (None, None, None, None)
    assert len(notes) == 1
    assert notes[0].startswith("bedrooms: ")


@pytest.mark.parametrize(
    ("text", "words"),
    [("{}", "array of RentCast records"), ("[1,\n2", "line 2"), ("[" * 100_000, "nested too deeply")],
)
def test_a_file_that_is_none_is_refused(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "homes.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=words):
        read_listings(file)
    with pytest.raises(BadInput, match="no such file"):
        read_listings(tmp_path / "none.json")


def test_prices_and_areas_that_are_none_are_refused(tmp_path: Path) -> None:
    listings = read_listings(write(tmp_path, [record(0)]))
    with pytest.raises(BadInput, match="price"):
        listings.rentals(EVERYWHERE, (2, 1))

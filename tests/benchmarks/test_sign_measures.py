"""The measurements of signs on a rebuilt town of one street."""

import json

import pytest
from written_extract import Writer, box

from benchmarks.perf import placement, signs


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("osm") / "street.osm.pbf"
    town = Writer(path)
    town.way((-60, 0), (0, 0), (60, 0), highway="residential", name="Main Street")
    town.way(*box(-60, 8, -20, 25), building="yes", height="12")
    town.node(-50, 9, shop="bakery", name="Bakery")
    town.node(-40, 15, office="lawyer", name="Lawyer", level="3")
    town.node(30, 12, amenity="fast_food", name="Кофе")
    town.node(10, 20, leisure="fitness_station", name="Bars")
    town.close()
    return str(path)


def test_placement_counts_own_signs_apart_from_directories(
    city: str, capsys: pytest.CaptureFixture[str]
) -> None:
    placement.main(["--city", city, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert (found["places"], found["fronted"]) == (4, 3)
    assert (found["signed"], found["on_directory"], found["unsigned"]) == (2, 1, 0)
    assert found["near_and_seen"] == pytest.approx(2 / 3)
    assert found["directory"] == {"looks": 1, "half_seen": 1.0, "readable": 1.0}


@pytest.mark.slow
def test_names_read_are_counted_by_script(city: str, capsys: pytest.CaptureFixture[str]) -> None:
    signs.main(["--city", city, "--timed", "0", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["signs"] == 3
    assert set(found["read_by_script"]) == {"latin", "cyrillic"}
    assert found["read_by_script"]["latin"] == 1.0
    assert found["read_directory"] == 1.0


def test_scripts() -> None:
    assert signs.script_of("R-kioski 24") == "latin"
    assert signs.script_of("Кофе") == "cyrillic"
    assert signs.script_of("Кофе Bar") == "mixed"
    assert signs.script_of("24/7") == "none"

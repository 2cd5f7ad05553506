"""The plan of a run keeps what it knows of cities that a resumed run does not open."""

from pathlib import Path

from virl.bench.episode import Episode
from virl.bench.plan import PLAN, known_cities, make_plan, read_plan, write_plan
from virl.platform.providers.cities import open_city

EPISODES = [Episode("one", "virlton", "ocr")]


def test_a_resumed_run_keeps_the_title_and_the_streets_of_its_cities(tmp_path: Path) -> None:
    write_plan(tmp_path, make_plan(EPISODES, {"virlton": open_city("virlton")}))
    whole = read_plan(tmp_path)
    assert whole.cities["virlton"].streets
    assert make_plan(EPISODES, {}, known_cities(tmp_path)) == whole


def test_without_a_plan_that_can_be_read_a_city_has_its_name(tmp_path: Path) -> None:
    assert make_plan(EPISODES, {}, known_cities(tmp_path)).cities["virlton"].title == "virlton"
    (tmp_path / PLAN).write_text("{")
    assert known_cities(tmp_path) == {}

"""Vivek in a quarter whose every place and home a test has put there."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_quarter import CENTER, QuarterStreetView, end, home, live, notes, place, quarter
from real_data import real_data

from virl.errors import BadInput, MindFailed
from virl.film.story import read_story
from virl.journal.records import Result
from virl.mind.base import Prompt, ReplyT
from virl.mind.rules import RuleMind
from virl.money.ledger import Ledger
from virl.pages.exhibits import MapExhibit, TableExhibit, TextExhibit
from virl.platform.city.city import City
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Camera, View
from virl.routines.homes.routine import TOGETHER
from virl.routines.homes.settings import Renting
from virl.settings.model import check_settings

WISH = "Peng looks for a home. A gym within a short walk is a must."
AROUND = {"lat": CENTER.lat, "lng": CENTER.lng, "radius": 2000}
GYM = place("Iron", 0, kind="gym")


def ask(city: City, folder: Path, wish: str = WISH, **rent: object) -> Result:
    client = {"name": "Peng", "background": "A student.", "intention": wish}
    settings = {"price": [1000, 2000], "areas": [AROUND]} | rent
    return live("vivek", city, folder, {"client": client, "rent": settings})


def ids(result: Result) -> list[str]:
    ranked = result.answer["ranked"]
    assert isinstance(ranked, list)
    return [one["id"] for one in ranked]


def test_homes_are_ranked_best_first_by_what_the_client_cares_about(tmp_path: Path) -> None:
    city = quarter([GYM], [home("far", 700, 1500), home("near", 40, 1500), home("middle", 300, 1500)])
    result = ask(city, tmp_path)
    assert (result.status, result.outcome) == (
        "finished",
        Outcome("found", result.reason, result.outcome.what),
    )
    assert ids(result) == ["near", "middle", "far"]
    assert result.answer["pick"] == "near"
    first = result.answer["ranked"][0]  # type: ignore[index]
    assert first["nearby"] == [
        {"place_type": "gym", "name": "Iron", "walk_minutes": pytest.approx(0.5, abs=0.05), "count": 1}
    ]
    ratings = [one["rating"] for one in result.answer["ranked"]]  # type: ignore[attr-defined]
    assert ratings == sorted(ratings, reverse=True)


def test_equal_ratings_go_to_the_lower_rent(tmp_path: Path) -> None:
    class Indifferent(RuleMindAlike):
        def ask(self, prompt: Prompt[ReplyT], *, images: object = (), **inputs: object) -> ReplyT:
            if prompt.name == "homes/rating":
                homes = inputs["homes"]
                assert isinstance(homes, list)
                same = {"rating": 5, "explanation": "As good as any."}
                ratings = [{"home": number, **same} for number in range(len(homes))]
                return prompt.reply.model_validate({"ratings": ratings})
            return self.rules.ask(prompt, **inputs)

    city = quarter([GYM], [home("a", 40, 1500), home("b", 300, 1200), home("c", 20, 1200)])
    client = {"name": "Peng", "background": "", "intention": WISH}
    rent = {"price": [1000, 2000], "areas": [AROUND]}
    result = live("vivek", city, tmp_path, {"client": client, "rent": rent}, mind=Indifferent())
    assert ids(result) == ["b", "c", "a"]


def test_the_window_is_inclusive_unless_it_is_strict(tmp_path: Path) -> None:
    homes = [home("low", 10, 1000), home("middle", 10, 1500), home("high", 10, 2000), home("over", 10, 2001)]
    city = quarter([GYM], homes)
    assert set(ids(ask(city, tmp_path / "a"))) == {"low", "middle", "high"}
    assert ids(ask(city, tmp_path / "b", bounds="strict")) == ["middle"]


def test_a_highest_rent_in_words_holds_for_search_and_ratings(tmp_path: Path) -> None:
    city = quarter([GYM], [home("fits", 10, 1400), home("over", 10, 1501)])
    result = ask(city, tmp_path, f"{WISH} At most 1500 dollars.")
    assert ids(result) == ["fits"]
    assert "1400 of 1500 dollars" in result.answer["ranked"][0]["reason"]  # type: ignore[index]


def test_bedrooms_and_several_districts_narrow_the_search(tmp_path: Path) -> None:
    homes = [
        home(f"r{rooms}-{east}", east, 1500, bedrooms=rooms) for rooms in (0, 2) for east in (0, 800, 1600)
    ]
    ends = [
        AROUND | {"radius": 100},
        AROUND | {"lng": CENTER.lng + 0.0191, "radius": 100},
    ]  # about 1600 m east
    result = ask(quarter([GYM], homes), tmp_path, areas=ends, bedrooms=[1, 3])
    assert set(ids(result)) == {"r2-0", "r2-1600"}


def test_homes_with_an_unknown_number_of_bedrooms_stay_unless_a_number_is_wanted(tmp_path: Path) -> None:
    unknown = home("unknown", 20, 1500, bedrooms=None, bathrooms=None)
    city = quarter([GYM], [unknown, home("known", 60, 1500)])
    result = ask(city, tmp_path / "any", "Peng looks for a home with two bedrooms near a gym.")
    assert set(ids(result)) == {"unknown", "known"}
    told = {one["id"]: one["reason"] for one in result.answer["ranked"]}  # type: ignore[attr-defined]
    assert "bedrooms unknown, 2 bedrooms wanted" in told["unknown"]
    assert "1 of them with an unknown number of bedrooms" in notes(tmp_path / "any", "homes")[0].text
    (table,) = (one for one in end(tmp_path / "any").exhibits if isinstance(one, TableExhibit))
    assert {row[1]: row[4] for row in table.rows} == {"unknown Street": None, "known Street": 1}
    result = ask(city, tmp_path / "some", bedrooms=[0, 2])
    assert ids(result) == ["known"]
    assert result.answer["skipped"] == [
        "unknown Street: how many bedrooms it has is unknown, and 0 to 2 are wanted"
    ]


def test_districts_may_be_cities_with_a_polygon_or_files_of_corners(tmp_path: Path) -> None:
    corners = tmp_path / "corners.txt"
    corners.write_text("41.249,-38.751\n41.249,-38.749\n41.251,-38.749\n41.251,-38.751\n")
    homes = [home("here", 20, 1500), home("there", 900, 1500)]
    areas = [str(corners), "new-york-chinatown"]
    result = ask(quarter([GYM], homes), tmp_path / "run", areas=areas)
    assert ids(result) == ["here"]
    with pytest.raises(BadInput, match="no district"):
        ask(quarter([GYM], homes), tmp_path / "other", areas=["virlton"])


def test_one_search_for_all_kinds_of_places_a_home(tmp_path: Path) -> None:
    places = [GYM, place("Green", 200, kind="park"), place("Shut", 10, kind="park", is_open=False)]
    city = quarter(places, [home("a", 0, 1500), home("b", 100, 1500)], detours={"Iron": 900.0})
    result = ask(city, tmp_path, f"{WISH} A park would be nice.")
    assert city.places.asked == {"nearby": 2}  # type: ignore[attr-defined]
    near = {one["place_type"]: one for one in result.answer["ranked"][0]["nearby"]}  # type: ignore[index]
    assert near["park"]["name"] == "Green"
    assert near["gym"]["walk_minutes"] > 11  # the true walk, not the crow's


def test_the_report_has_a_table_a_map_and_what_was_left_out(tmp_path: Path) -> None:
    homes = [home(f"h{number}", number, 1000 + number) for number in range(20)]
    ask(quarter([GYM], homes), tmp_path, shown=15)
    (table,) = (one for one in end(tmp_path).exhibits if isinstance(one, TableExhibit))
    assert (len(table.rows), table.picked) == (15, 0)
    assert "min to gym" in table.columns
    (drawn,) = (one for one in end(tmp_path).exhibits if isinstance(one, MapExhibit))
    assert [point.mark for point in drawn.points] == [str(number) for number in range(1, 16)]


def test_the_first_home_has_a_picture_of_its_front(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def seen(_: object, pano_id: str, camera: Camera) -> View:
        return View(pano_id, camera, np.zeros((8, 8, 3), np.uint8))

    monkeypatch.setattr(QuarterStreetView, "view", seen)
    result = ask(quarter([GYM], [home("far", 300, 1000), home("near", 20, 1000)]), tmp_path)
    (note,) = notes(tmp_path, "picture")
    assert (result.answer["picture"], note.key) == (note.views[0].file, "near")
    assert note.views[0].heading == pytest.approx(90, abs=1)
    assert read_story(tmp_path).moments[-1].view == note.views[0]


def test_listings_of_another_city_are_named_and_skipped(tmp_path: Path) -> None:
    file = tmp_path / "rentals.json"
    record = {
        "id": "2-Court",
        "formattedAddress": "2 Court Sq W, New York, NY 11101",
        "latitude": 40.747871,
        "longitude": -73.943733,
        "propertyType": "Apartment",
        "bedrooms": 1,
        "bathrooms": 1,
        "price": 1500,
    }
    here = {"id": "here", "latitude": CENTER.lat, "longitude": CENTER.lng, "formattedAddress": "Here"}
    nowhere = {"id": "lost", "formattedAddress": "Lost Lane"}
    file.write_text(json.dumps([record, record | here, record | nowhere | {"price": None}]))
    result = ask(quarter([GYM]), tmp_path / "run", listings=str(file))
    assert ids(result) == ["here"]
    assert result.answer["skipped"] == [
        "Lost Lane: price is missing",
        "2 Court Sq W, New York, NY 11101: lies outside area 1",
    ]
    (text,) = (one for one in end(tmp_path / "run").exhibits if isinstance(one, TextExhibit))
    assert text.title == "Skipped: 2 listings"


def test_the_published_listings_are_all_read_or_named(tmp_path: Path) -> None:
    result = ask(quarter([GYM]), tmp_path, listings=str(real_data("virl") / "agents" / "ny_peng_rent.json"))
    assert result.status == "gave up"
    assert not [line for line in result.answer["skipped"] if "missing" in line]  # type: ignore[attr-defined]
    assert len(result.answer["skipped"]) >= 138  # type: ignore[arg-type]
    assert "New York" in result.reason
    assert "\n" not in result.reason


def test_a_home_off_the_map_is_named_and_the_others_weighed(tmp_path: Path) -> None:
    wide = AROUND | {"radius": 9000}
    places = [GYM, place("Remote", 5000, kind="gym")]
    city = quarter(places, [home("here", 20, 1500), home("remote", 5000, 1500)])
    result = ask(city, tmp_path, areas=[wide])
    assert ids(result) == ["here"]
    assert result.answer["skipped"] == ["remote Street: no way leads from there to any place near it"]


def test_a_run_that_was_cut_off_repeats_nothing(tmp_path: Path) -> None:
    homes = [home(f"h{number}", 50 * number, 1500) for number in range(TOGETHER + 2)]
    whole = ask(quarter([GYM], homes), tmp_path / "whole")
    city = quarter([GYM], homes)
    client = {"name": "Peng", "background": "A student.", "intention": WISH}
    changes = {"client": client, "rent": {"price": [1000, 2000], "areas": [AROUND]}}
    with pytest.raises(MindFailed, match="no more"):
        live("vivek", city, tmp_path / "run", changes, mind=Failing(after=2))
    resumed = live("vivek", city, tmp_path / "run", changes)
    assert resumed.answer == whole.answer
    assert len(notes(tmp_path / "run", "wants")) == 1
    assert len(notes(tmp_path / "run", "homes")) == 1
    keys = [note.key for note in notes(tmp_path / "run", "home")]
    assert sorted(keys) == sorted(home.id for home in homes)
    assert city.places.asked["nearby"] == TOGETHER + 4  # type: ignore[attr-defined]  # the two cut off, again


def test_a_character_without_a_window_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="`rent:` is missing"):
        live("vivek", quarter([]), tmp_path / "a", {"rent": None})


def test_in_a_city_that_knows_no_homes_he_says_so_and_ends(tmp_path: Path) -> None:
    result = ask(replace(quarter([]), listings=None), tmp_path)
    assert (result.status, result.outcome.kind, result.answer["pick"]) == ("gave up", "gave up", None)
    assert "has no homes for rent: set `rent: listings:`" in result.reason


@pytest.mark.parametrize(
    "rent",
    [{"price": [2000, 1000]}, {"price": [1000, 2000], "bedrooms": [2, 1]}, {"price": [1, 2], "bed": 1}],
)
def test_a_window_that_is_none_is_refused(rent: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        check_settings(rent, Renting, source="rent")


class RuleMindAlike:
    def __init__(self) -> None:
        self.rules = RuleMind()
        self.name = "rules"

    @property
    def ledger(self) -> Ledger:
        return self.rules.ledger

    def with_own_ledger(self) -> "RuleMindAlike":
        return self

    def ask(self, prompt: Prompt[ReplyT], *, images: object = (), **inputs: object) -> ReplyT:
        return self.rules.ask(prompt, **inputs)


class Failing(RuleMindAlike):
    """Rules that give up after so many answers, as a kill would."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self._left = after

    def ask(self, prompt: Prompt[ReplyT], *, images: object = (), **inputs: object) -> ReplyT:
        if not self._left:
            raise MindFailed("no more answers")
        self._left -= 1
        return self.rules.ask(prompt, **inputs)

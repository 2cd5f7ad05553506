"""The clients of Aria's and Vivek's benchmarks: what they say, and what is true of the places around them."""

from dataclasses import replace
from pathlib import Path

import pytest
from made_high_street import FRAME, made_city
from shapely import Polygon

from benchmarks.agents import aria, ling, vivek
from benchmarks.agents.scoring import AgentCase, ScoredAgent
from virl.errors import BadInput
from virl.geo.globe import LatLng
from virl.geo.region import Region
from virl.journal.records import Result
from virl.mind.rules import RuleMind
from virl.platform.city.city import City, Listing
from virl.platform.city.places import Place
from virl.platform.perception.models import ModelOptions, Models


def test_no_sentence_of_the_reported_seed_is_used_by_another() -> None:
    reported, tried = aria._sentences(aria.REPORTED_SEED), aria._sentences(aria.REPORTED_SEED + 1)
    assert tried is aria._load_phrases()[0].tried
    for kind, sentences in tried.types.items():
        assert not set(sentences) & set(reported.types[kind])
    for wish, sentences in tried.wishes.items():
        assert not set(sentences) & set(reported.wishes[wish])
    assert not set(tried.limits) & set(reported.limits)
    homes = vivek._load_phrases()
    wordings = [*homes.importance.values()]
    wordings += [homes.opening, homes.away, homes.thrifty, homes.careless, homes.spacious, homes.bedrooms]
    wordings += [homes.modern, homes.old]
    for one in wordings:
        assert not set(one.tried) & set(one.reported)
        assert one.of(aria.REPORTED_SEED) == one.reported
        assert one.of(aria.REPORTED_SEED + 1) == one.tried


@pytest.mark.parametrize("field", ["types", "wishes"])
def test_what_clients_ask_for_has_words_in_both_files(field: str) -> None:
    book, _ = aria._load_phrases()
    for sentences in (book.tried, aria._sentences(aria.REPORTED_SEED)):
        aria._check_all_said(book, sentences, Path("sentences.yaml"))
        left_out, *others = getattr(sentences, field)
        fewer = sentences.model_copy(update={field: {key: getattr(sentences, field)[key] for key in others}})
        with pytest.raises(BadInput, match=f"sentences.yaml: {field}: missing or unknown: {left_out}"):
            aria._check_all_said(book, fewer, Path("sentences.yaml"))


@pytest.mark.slow
def test_aria_serves_clients_whose_wishes_can_be_met(virlton: City) -> None:
    drawn = aria._draw_clients(virlton, 1)
    assert len(drawn) == len(aria.cases(virlton, 1)) == 50
    assert virlton.truth is not None
    for case in drawn.values():
        assert set(case.fitting) <= set(case.options)
        assert case.fitting
        for place_id in case.fitting:
            truth = virlton.truth.attributes(place_id)
            assert all(truth[wish.removeprefix("not ")] != wish.startswith("not ") for wish in case.wishes)


@pytest.mark.slow
def test_the_hidden_suitability_is_a_share_and_tells_homes_apart(virlton: City) -> None:
    for case in vivek._draw_searches(virlton, 1).values():
        values = list(case.suitability.values())
        assert len(values) == len(case.homes) >= vivek.FEWEST_HOMES
        assert min(values) >= 0
        assert max(values) <= 1
        assert len(set(values)) > len(values) / 2
        assert all(case.window[0] <= home.price <= case.window[1] for home in case.homes)


@pytest.mark.slow
def test_one_client_each_from_start_to_truth(virlton: City, tmp_path: Path) -> None:
    def case(agent: ScoredAgent, name: str) -> AgentCase:
        first = agent.cases(virlton, 1)[0]
        models = Models(ModelOptions(truth=virlton.truth, seed=1))
        return AgentCase(first, name, virlton, 1, tmp_path / name, RuleMind(), models)

    served = aria.run(case(aria.ARIA, "aria"))
    assert served["barred"] is False
    assert 0 < served["random_fits"] <= 1
    ranked = vivek.run(case(vivek.VIVEK, "vivek"))
    assert -1 <= ranked["correlation"] <= 1
    assert abs(ranked["random"]) < 1
    assert (tmp_path / "aria" / "report.html").is_file()


def test_the_homes_of_a_client_are_those_of_the_towns_region() -> None:
    asked: list[Polygon] = []

    class Listed:
        def rentals(self, area: Polygon, price: tuple[float, float]) -> list[Listing]:
            asked.append(area)
            return []

    corners = (LatLng(47.0, 9.0), LatLng(47.0, 9.01), LatLng(47.01, 9.01))
    city = replace(made_city()[0], region=Region(corners), listings=Listed())
    vivek._homes_in_window(city, (0.0, 1.0))
    assert asked[0].equals(Polygon([(corner.lng, corner.lat) for corner in corners]))


def test_any_branch_that_goes_by_the_name_is_where_ling_wants_to_go() -> None:
    near, far = FRAME.position(0, 0), FRAME.position(500, 0)
    place = Place("far", "Star Bakery", ("bakery",), far)
    drawn = ling.DrawnWalk(near, place, 200.0, (far, near))
    answer = {"lat": near.lat, "lng": near.lng, "asked": 1, "believes_arrived": True}
    result = Result.model_construct(answer=answer, distance_m=200.0, reason="seen")
    assert ling._outcome_data(result, drawn)["arrived"]
    assert not ling._outcome_data(result, replace(drawn, branches=(far,)))["arrived"]

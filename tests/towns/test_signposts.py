"""Signposts name the nearest landmarks to which a street is the shortest way, and how far they are."""

from collections import Counter

import numpy as np
import pytest
import shapely
from junction_looks import looks_down

from virl.platform.city.city import City
from virl.platform.city.graph import whole_graph
from virl.platform.city.place_types import types_marked
from virl.platform.navigators.sight.looking import pointer_in, signs_and_pointers
from virl.platform.perception.models import ModelOptions, Models
from virl.platform.providers.cities import open_city
from virl.platform.providers.offline.city import kept_plan
from virl.towns.plan.town_plan import CityPlan, Sign


@pytest.fixture(scope="module")
def plan() -> CityPlan:
    return kept_plan(3, "Virlford", ("plates", "signposts"))


@pytest.fixture(scope="module")
def town() -> City:
    return open_city("virlford")


def boards(plan: CityPlan) -> list[Sign]:
    return [sign for sign in plan.street_signs if sign.kind == "signpost"]


def test_signposts_name_landmarks_and_the_middle_of_the_town(plan: CityPlan) -> None:
    landmarks = {shop.place.name for shop in plan.shops if shop.place.types[0] in types_marked("landmark")}
    named = Counter(pointer.name for board in boards(plan) if (pointer := pointer_in(board.text)))
    assert sum(named.values()) == len(boards(plan)) > 800
    assert set(named) <= landmarks | {"Centre"}
    assert len(named) > 0.95 * len(landmarks)
    assert all(board.place_id == "" for board in boards(plan))
    below = min(sign.bottom for sign in plan.street_signs if sign.kind == "plate")
    assert all(3.5 < board.bottom < board.top < below for board in boards(plan))
    hung = Counter(board.id.rpartition("-")[0] for board in boards(plan))
    assert max(hung.values()) == 3


def test_the_street_of_a_signpost_is_a_shortest_way(plan: CityPlan, town: City) -> None:
    """By the graph of panoramas, which knows nothing of how signposts were made."""
    graph, layout = whole_graph(town), plan.layout
    position = {shop.place.name: shop.place.position for shop in plan.shops}
    checked = 0
    for board in boards(plan)[::40]:
        pointer = pointer_in(board.text)
        assert pointer is not None
        if pointer.name == "Centre":
            continue
        street = layout.streets[int(board.id.split("-")[1])]
        near, far = (
            (street.end, street.start) if board.id.split("-")[2] == "1" else (street.start, street.end)
        )
        goal = graph.nearest(position[pointer.name])[0]
        to_goal = graph.distances_from([goal])[0]
        here, there = (
            to_goal[graph.nearest(layout.frame.position(*layout.junctions[end]))[0]] for end in (near, far)
        )
        length = shapely.LineString(street.line).length
        assert abs(here - pointer.metres) < 60, board
        assert there < here or here < length, board
        checked += 1
    assert checked > 15


def test_a_town_without_signposts_is_as_it_was() -> None:
    bare, plated = kept_plan(3, "Virlford"), kept_plan(3, "Virlford", ("plates",))
    assert bare.street_signs == ()
    assert {sign.kind for sign in plated.street_signs} == {"plate"}


@pytest.mark.slow
def test_signposts_are_read_from_the_middle_of_junctions(town: City, plan: CityPlan) -> None:
    reader = Models(ModelOptions(truth=town.truth)).reader("sign-reader")
    assert town.truth is not None
    hung = {board.text for board in boards(plan) if board.text.isascii()}
    shown = read = 0
    for pano_id, camera in looks_down(town, range(40, 120), junctions=8):
        seen = [
            sign
            for sign in town.truth.visible(pano_id, camera, kinds={"sign"})
            if sign.label in hung and np.ptp(sign.box[1::2]) > 20 and sign.visible_fraction > 0.95
        ]
        lines = reader.read([town.streetview.view(pano_id, camera).pixels])[0]
        pointers = {pointer_in(sign.text) for sign in signs_and_pointers(camera, lines)}
        assert all(sign.place_id is None for sign in seen)
        shown += len(seen)
        read += sum(pointer_in(sign.label) in pointers for sign in seen)
    assert shown > 30
    assert read > 0.8 * shown

"""`virl/Sight-v0`: Gymnasium's own checks, and starts and ends of searches against the truth."""

import warnings
from collections.abc import Iterator

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import virl
from virl.errors import BadInput, UnknownName
from virl.geo.globe import bearing, distance
from virl.gym import SightEnv
from virl.platform.city.city import City
from virl.platform.city.streetview import Camera

FORWARD, LEFT, RIGHT, STOP = (np.int64(action) for action in range(4))
TINY = {"size": (16, 16)}


@pytest.fixture(scope="module")
def env(town: City) -> Iterator[SightEnv]:
    made = SightEnv(town, **TINY)
    yield made
    made.close()


def metres_to_seen(town: City, kind: str, pano_id: str) -> list[float]:
    """Metres to each place of a kind whose sign can be seen from a panorama."""
    here = town.streetview.panorama(pano_id).position
    near = [place for place in town.places.nearby(here, 70) if place.types[:1] == (kind,)]
    found = []
    for place in near:
        view = Camera(bearing(here, place.position), 5.0, 90.0, 640, 640)
        signs = town.truth.visible(pano_id, view, kinds={"sign"}) if town.truth else []
        if any(one.place_id == place.id and one.visible_fraction >= 0.5 for one in signs):
            found.append(distance(here, place.position))
    return found


@pytest.mark.slow
def test_gymnasiums_own_checks_pass_without_a_warning() -> None:
    made = virl.make_env("Sight", city="virlton", render_mode="rgb_array", **TINY)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(made.unwrapped)
    made.reset(seed=0)
    assert made.render().shape == (480, 640, 3)
    made.close()


def test_no_coordinate_is_observed(env: SightEnv) -> None:
    seen, info = env.reset(seed=1)
    assert sorted(seen) == ["kind", "pixels"]
    assert env.kinds[int(seen["kind"])] == info["kind"]


@pytest.mark.slow
def test_a_search_begins_where_a_sign_of_the_kind_is_seen(env: SightEnv, town: City) -> None:
    for seed in range(12):
        _, info = env.reset(seed=seed)
        metres = metres_to_seen(town, info["kind"], info["panorama"])
        assert any(15 <= one <= 60 for one in metres)
        assert info["distance"] > 0


@pytest.mark.slow
def test_only_a_stop_near_a_place_whose_sign_is_seen_is_rewarded(env: SightEnv, town: City) -> None:
    rewards = []
    for seed in range(6):
        env.reset(seed=seed)
        for node in np.argsort(env.sights.metres_to(env.kind))[[0, 5, 300, 900, 1500]]:
            env.reset(seed=seed)
            env.stand(int(node), 0.0)
            _, reward, ended, _, info = env.step(STOP)
            metres = metres_to_seen(town, info["kind"], info["panorama"])
            assert ended
            assert reward == float(any(one <= 15 for one in metres))
            rewards.append(reward)
    assert {0.0, 1.0} == set(rewards)


@pytest.mark.slow
def test_searches_side_by_side_are_those_of_single_environments(town: City) -> None:
    many = gymnasium.make_vec("virl/Sight-v0", num_envs=3, city=town, **TINY)
    seen, _ = many.reset(seed=4)
    for number in range(3):
        alone, _ = SightEnv(town, **TINY).reset(seed=4 + number)
        assert (seen["pixels"][number] == alone["pixels"]).all()
        assert seen["kind"][number] == alone["kind"]
    many.close()


def test_kinds_and_towns_that_do_not_serve_are_refused(town: City, env: SightEnv) -> None:
    with pytest.raises(UnknownName, match="kind of place 'zoo'"):
        env.reset(options={"kind": "zoo"})
    with pytest.raises(BadInput, match="no place of the kinds airport"):
        SightEnv(town, kinds=("airport",), **TINY)
    _, info = env.reset(seed=0, options={"kind": "bakery"})
    assert info["kind"] == "bakery"

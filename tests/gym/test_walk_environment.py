"""`virl/Walk-v0`: Gymnasium's own checks, and walks whose every move is checked against the city."""

import ast
import copy
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

import virl
from virl.errors import BadInput, ModelUnavailable, NoStreetView, NotFound
from virl.geo.globe import bearing, distance, signed_turn
from virl.gym import WalkEnv, WalkVectorEnv
from virl.platform.city.city import City
from virl.platform.city.streetview import Camera

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "environments.md"
FORWARD, LEFT, RIGHT, STOP = (np.int64(action) for action in range(4))
TINY = {"size": (16, 16)}


@pytest.fixture(scope="module")
def env(town: City) -> Iterator[WalkEnv]:
    made = WalkEnv(town, **TINY)
    yield made
    made.close()


@pytest.mark.slow
def test_gymnasiums_own_checks_pass_without_a_warning(town: City) -> None:
    made = gymnasium.make("virl/Walk-v0", city="virlton", render_mode="rgb_array", size=(24, 16))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(made.unwrapped)
    assert made.reset(seed=2)[0]["pixels"].shape == (16, 24, 3)
    assert made.render().shape == (480, 640, 3)
    made.close()


@pytest.mark.slow
def test_what_is_seen_is_the_view_ahead(env: WalkEnv, town: City) -> None:
    seen, info = env.reset(seed=5)
    camera = Camera(info["heading"], fov=90, width=16, height=16)
    assert (seen["pixels"] == town.streetview.view(info["panorama"], camera).pixels).all()
    turned, *_, after = env.step(RIGHT)
    assert signed_turn(info["heading"], after["heading"]) == pytest.approx(30)
    assert (turned["pixels"] != seen["pixels"]).any()
    assert turned["heading"] == pytest.approx(
        [np.sin(np.radians(after["heading"])), np.cos(np.radians(after["heading"]))], abs=1e-6
    )


@pytest.mark.slow
def test_forward_takes_the_link_ahead_or_none(env: WalkEnv, town: City) -> None:
    _, info = env.reset(seed=1)
    stayed = moved = 0
    for action in [FORWARD, LEFT, LEFT] * 30:
        links = town.streetview.panorama(info["panorama"]).links
        ahead = [link for link in links if abs(signed_turn(info["heading"], link.heading)) <= 45]
        assert info["can_go_forward"] == bool(ahead)
        *_, after = env.step(action)
        if action == FORWARD and ahead:
            nearest = min(ahead, key=lambda link: abs(signed_turn(info["heading"], link.heading)))
            assert (after["panorama"], after["heading"]) == (nearest.pano_id, nearest.heading)
            moved += 1
        else:
            assert after["panorama"] == info["panorama"]
            stayed += action == FORWARD
        info = after
    assert moved
    assert stayed


@pytest.mark.slow
def test_the_goal_is_where_the_observation_says(env: WalkEnv) -> None:
    for seed in range(5):
        seen, info = env.reset(seed=seed)
        ahead, right = seen["goal"]
        here, goal = virl.LatLng(*info["position"]), virl.LatLng(*info["goal_position"])
        assert np.hypot(ahead, right) == pytest.approx(distance(here, goal), rel=0.01)
        turn = signed_turn(info["heading"], bearing(here, goal))
        assert np.degrees(np.arctan2(right, ahead)) == pytest.approx(turn, abs=1)
        assert 50 <= info["distance"] <= 400


@pytest.mark.slow
def test_the_shortest_way_is_rewarded_and_ends(town: City) -> None:
    env = WalkEnv(town, shaping=0.01, goal="20 Vine Road", start=town.center, max_steps=1000, **TINY)
    _, info = env.reset(seed=0)
    first, total, truncated = info["distance"], 0.0, False
    while info["distance"] > 0:
        links = town.streetview.panorama(info["panorama"]).links
        ways = env.ground.number
        best = min(links, key=lambda link: env._left[ways[link.pano_id]] + link.distance)
        turn = signed_turn(info["heading"], best.heading)
        near = min(links, key=lambda link: abs(signed_turn(info["heading"], link.heading)))
        action = FORWARD if near == best and abs(turn) <= 45 else RIGHT if turn > 0 else LEFT
        *_, reward, _, truncated, info = env.step(action)
        assert not truncated
        total += reward
    assert total == pytest.approx(0.01 * first)
    _, reward, terminated, _, _ = env.step(STOP)
    assert (reward, terminated) == (1.0, True)


def test_a_stop_far_from_the_goal_is_worth_nothing_and_the_limit_truncates(town: City) -> None:
    env = WalkEnv(town, max_steps=3, **TINY)
    env.reset(seed=0)
    assert [env.step(LEFT)[2:4] for _ in range(3)] == [(False, False), (False, False), (False, True)]
    env.reset(seed=0)
    assert env.step(STOP)[1:4] == (0.0, True, False)


def test_the_same_seed_draws_the_same_episodes(env: WalkEnv) -> None:
    def ends(seed: int) -> list[tuple[Any, Any, Any]]:
        first = env.reset(seed=seed)[1]
        return [(one["panorama"], one["goal"], one["heading"]) for one in (first, env.reset()[1])]

    assert ends(7) == ends(7)
    assert ends(7) != ends(8)
    assert ends(7)[0] != ends(7)[1]


def test_ends_are_chosen_by_address_place_or_position(env: WalkEnv, town: City) -> None:
    where = town.maps.geocode("20 Vine Road")
    _, info = env.reset(seed=0, options={"start": "98 King Lane", "goal": where})
    assert distance(virl.LatLng(*info["goal_position"]), where) < 50
    _, again = env.reset(options={"goal": where})
    assert again["goal"] == info["goal"]
    with pytest.raises(NotFound):
        env.reset(options={"goal": "99 No Such Street"})
    with pytest.raises(NoStreetView, match="the start"):
        env.reset(options={"start": (0.0, 0.0)})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"max_steps": 0}, "max_steps 0"),
        ({"render_mode": "human"}, "render mode 'human'"),
        ({"size": (4, 4)}, "camera size 4x4"),
    ],
)
def test_wrong_arguments_are_one_line(town: City, wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        WalkEnv(town, **wrong)


def test_walks_that_cannot_be_are_refused(town: City) -> None:
    with pytest.raises(BadInput, match="no walk of 90000 to 99000 m"):
        WalkEnv(town, within=(90_000, 99_000), **TINY).reset(seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("action", [-1, 4, "0", None, 1.0])
def test_an_action_that_is_none_is_refused(env: WalkEnv, action: object) -> None:
    env.reset(seed=0)
    with pytest.raises(BadInput, match=r"is no action: choose one of Discrete\(4\)"):
        env.step(action)  # type: ignore[arg-type]


def test_a_step_before_a_reset_is_refused(town: City) -> None:
    with pytest.raises(ResetNeeded, match=r"call reset\(\)"):
        WalkEnv(town, **TINY).step(FORWARD)


def test_a_copy_goes_on_from_where_it_stands(env: WalkEnv) -> None:
    env.reset(seed=3)
    env.step(FORWARD)
    copied = copy.deepcopy(env)
    assert copied.city is env.city
    assert [copied.step(action)[4]["heading"] for action in (LEFT, FORWARD)] == [
        env.step(action)[4]["heading"] for action in (LEFT, FORWARD)
    ]
    env.step(LEFT)
    assert copied.reset()[1]["panorama"] == env.reset()[1]["panorama"]  # the same draws


def test_environments_open_by_short_names(
    town: City, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    walk = virl.make_env("Walk", city=town, size=(16, 16))
    assert walk.reset(seed=1)[0]["pixels"].shape == (16, 16, 3)
    with pytest.raises(BadInput, match="unknown reset option 'begin'"):
        walk.reset(options={"begin": "20 Vine Road"})
    with pytest.raises(BadInput, match="unknown environment 'Wlak': did you mean 'Walk'"):
        virl.make_env("Wlak")
    with pytest.raises(BadInput, match="no touchdown data in"):
        virl.make_env("StreetWalk", data=tmp_path)
    with pytest.raises(BadInput, match="unknown data set 'r2r'"):
        virl.make_env("StreetWalk", dataset="r2r")
    monkeypatch.setenv("VIRL_DATA", str(tmp_path))  # none is installed: an export of Virlton
    steps = virl.make_env("StreetWalk", dataset="map2seq", shaping=0.1)
    _, info = steps.reset(options={"episode": 0})
    assert info["instruction"]
    taken = copy.deepcopy(steps)
    assert taken.step(0)[4]["panorama"] == steps.step(0)[4]["panorama"]
    with pytest.raises(BadInput, match="5 is no action"):
        steps.step(5)
    with pytest.raises(BadInput, match=r"no such file of episodes .* map2seq_unseen/dev"):
        virl.make_env("StreetWalk", dataset="map2seq", split="none")


def test_many_walkers_are_as_many_single_ones() -> None:
    options = {"city": "virlton", "max_steps": 4, "shaping": 0.1, **TINY}
    many = gymnasium.make_vec("virl/Walk-v0", num_envs=3, **options)
    assert isinstance(many, WalkVectorEnv)
    alone = gymnasium.vector.SyncVectorEnv([lambda: WalkEnv(**options)] * 3)
    assert many.observation_space == alone.observation_space
    found, wanted = many.reset(seed=4), alone.reset(seed=4)
    for number in range(12):  # each walker begins anew twice: after its last step, or after a stop
        for name in ("pixels", "goal", "heading"):
            assert found[0][name].dtype == wanted[0][name].dtype
            assert (found[0][name] == wanted[0][name]).all()
        assert found[0] in many.observation_space
        assert all((one == other).all() for one, other in zip(found[1:-1], wanted[1:-1], strict=True))
        assert found[-1].keys() == wanted[-1].keys()
        assert all((found[-1][name] == value).all() for name, value in wanted[-1].items())
        actions = np.array([FORWARD, LEFT, STOP if number == 1 else RIGHT])
        found, wanted = many.step(actions), alone.step(actions)
    many.close()


def test_many_walkers_are_given_a_seed_and_an_action_each(town: City) -> None:
    many = WalkVectorEnv(2, city=town, **TINY)
    first = many.reset(seed=[7, 7])[0]["goal"]
    assert (first[0] == first[1]).all()
    with pytest.raises(BadInput, match="3 seeds for 2 walkers"):
        many.reset(seed=[1, 2, 3])
    with pytest.raises(BadInput, match="1 actions for 2 walkers"):
        many.step(np.array([LEFT]))
    with pytest.raises(BadInput, match="num_envs 0"):
        WalkVectorEnv(0, city=town)


ASKED: list[str] = []
"""Names of the events by which this test's process turned to the disk."""
LISTENING: list[bool] = []


def note_disk(event: str, _: object) -> None:
    if LISTENING and (event == "open" or event.partition(".")[0] in {"os", "pathlib", "shutil", "tempfile"}):
        ASKED.append(event)


def test_a_step_does_not_turn_to_the_disk(env: WalkEnv, town: City) -> None:
    many = WalkVectorEnv(2, city=town, **TINY)
    for walk in (env, many):
        walk.reset(seed=1)
    sys.addaudithook(note_disk)  # cannot be taken away again: it listens only here
    LISTENING.append(True)
    for action in [RIGHT, RIGHT, FORWARD] * 5:
        env.step(action)
        many.step(np.array([action, FORWARD]))
    env.reset(seed=2)
    LISTENING.clear()
    assert ASKED == []
    LISTENING.append(True)
    PAGE.read_bytes()
    LISTENING.clear()
    assert ASKED == ["open"]


def test_without_gymnasium_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib
    import sys

    import virl.gym

    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(ModelUnavailable, match=r"pip install 'virl\[gym\]'"):
        importlib.reload(virl.gym)


@pytest.mark.slow
def test_the_baseline_of_the_page_beats_chance() -> None:
    code = PAGE.read_text(encoding="utf-8").rpartition("```python\n")[2].partition("```")[0]
    assert len([line for line in code.splitlines() if line.strip()]) <= 45
    names: dict[str, Any] = {}
    exec(compile(ast.parse(code), str(PAGE), "exec"), names)  # noqa: S102 - our own page
    assert names["scores"]["towards_goal"] > names["scores"]["at_random"] + 0.2

import importlib
import itertools
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from made_crossings import crossing

from virl.errors import BadInput, ModelUnavailable, NoStreetView
from virl.platform.city.graph import InstructionEpisode
from virl.platform.movers.discrete import environment
from virl.platform.movers.discrete.actions import TOUCHDOWN, Action
from virl.platform.movers.discrete.environment import StreetWalkEnv, StreetWalkVectorEnv
from virl.platform.movers.discrete.oracle import Oracle
from virl.platform.movers.discrete.table import ACTIONS

GRAPH = crossing(left=-90, straight=5, right=90)
EPISODES = [
    InstructionEpisode("1", "Straight on over the crossing.", ("a", "b", "c", "straight"), 10.0),
    InstructionEpisode("2", "Turn left at the crossing.", ("a", "b", "c", "left"), 350.0),
    InstructionEpisode("3", "Turn around and go to the end.", ("b", "a"), 0.0),
]
FORWARD, LEFT, RIGHT, AROUND, STOP = range(5)


def env(**options: object) -> StreetWalkEnv:
    return StreetWalkEnv(GRAPH, EPISODES, **options)


def test_gymnasiums_own_checks_pass_without_a_warning() -> None:
    made = gymnasium.make("virl/StreetWalk-v0", graph=GRAPH, episodes=EPISODES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(made.unwrapped)


def test_an_episode_is_walked_to_its_target() -> None:
    walked = env()
    seen, info = walked.reset(options={"episode": 1})
    assert info["instruction"] == "Turn left at the crossing."
    assert (info["panorama"], info["distance"], seen["episode"]) == ("a", 3, 1)
    rewards = []
    for action in (FORWARD, FORWARD, LEFT, FORWARD, STOP):
        seen, reward, terminated, truncated, info = walked.step(np.int64(action))
        rewards.append(reward)
        assert seen in walked.observation_space
    assert (info["panorama"], terminated, truncated, rewards) == ("left", True, False, [0, 0, 0, 0, 1])


def test_what_is_sensed_at_a_crossing() -> None:
    walked = env()
    walked.reset(options={"episode": 0})
    for _ in range(2):
        seen, *_, info = walked.step(np.int64(FORWARD))
    assert seen["arrived"] == 1
    assert seen["heading"] == pytest.approx([0, 1])
    assert seen["link_mask"].tolist() == [1, 1, 1, 1]
    clockwise = np.degrees(np.arctan2(*seen["links"].T)) % 360
    assert clockwise == pytest.approx([5, 90, 180, 270], abs=1e-3)
    assert info["action_mask"].tolist() == [1, 1, 1, 1, 1]
    seen, *_, info = walked.step(np.int64(LEFT))
    assert seen["arrived"] == 0
    assert seen["heading"] == pytest.approx([-1, 0], abs=1e-6)
    seen, *_, info = walked.step(np.int64(FORWARD))
    assert seen["link_mask"].tolist() == [1, 0, 0, 0]
    assert seen["links"][1:].tolist() == [[0, 0]] * 3
    assert [ACTIONS[column] for column in np.flatnonzero(info["action_mask"])] == [
        Action.TURN_AROUND,
        Action.STOP,
    ]


def test_validated_actions_and_shaped_rewards() -> None:
    walked = env(shaping=0.5)
    walked.reset(options={"episode": 0})
    walked.step(np.int64(FORWARD))
    *_, info = walked.step(np.int64(RIGHT))  # on a road, so forward
    assert (info["carried"], info["distance"]) == (FORWARD, 1)
    _, reward, *_ = walked.step(np.int64(LEFT))
    assert reward == 0.0
    _, reward, *_ = walked.step(np.int64(FORWARD))  # into the wrong arm
    assert reward == -0.5


def test_the_limit_truncates_and_completion_still_counts() -> None:
    walked = env(max_actions=2)
    walked.reset(options={"episode": 0})
    walked.step(np.int64(FORWARD))
    _, reward, terminated, truncated, _ = walked.step(np.int64(FORWARD))
    assert (reward, terminated, truncated) == (1.0, False, True)  # next to the target


def test_map2seq_episodes_open_with_a_forward() -> None:
    walked = env(dataset="map2seq", max_actions=2)
    _, info = walked.reset(options={"episode": 2})
    assert info["panorama"] == "c"
    *_, truncated, _ = walked.step(np.int64(AROUND))
    assert truncated


def test_touchdowns_rules_know_no_turning_around() -> None:
    _, info = env(rules=TOUCHDOWN).reset(options={"episode": 0})
    assert info["action_mask"].tolist() == [1, 1, 1, 0, 1]


def test_the_oracle_earns_every_reward() -> None:
    walked = env()
    for number, episode in enumerate(EPISODES):
        walked.reset(options={"episode": number})
        oracle, reward, over = Oracle(GRAPH, episode.path), 0.0, False
        while not over:
            action = ACTIONS.index(oracle.action(walked.state))
            _, reward, over, _, _ = walked.step(np.int64(action))
        assert reward == 1.0


def test_vector_walks_are_those_of_single_environments_side_by_side() -> None:
    count, rng = 12, np.random.default_rng(4)
    options = {"max_actions": 9, "shaping": 0.25}
    many = StreetWalkVectorEnv(GRAPH, EPISODES[1:2], count, **options)
    single = SyncVectorEnv(
        [lambda: StreetWalkEnv(GRAPH, EPISODES[1:2], **options)] * count,
        autoreset_mode=AutoresetMode.NEXT_STEP,
    )
    assert many.metadata["autoreset_mode"] is single.metadata["autoreset_mode"]
    assert many.observation_space == single.observation_space
    assert many.action_space == single.action_space
    outcomes = [(many.reset(seed=1), single.reset(seed=1))]
    for _ in range(60):
        actions = rng.choice(5, count, p=[0.6, 0.15, 0.1, 0.05, 0.1])
        outcomes.append((many.step(actions), single.step(actions)))
    for mine, theirs in outcomes:
        assert mine[0] in many.observation_space
        for key, value in theirs[0].items():
            np.testing.assert_array_equal(mine[0][key], value)
            assert mine[0][key].dtype == value.dtype
        for ours, others in zip(mine[1:-1], theirs[1:-1], strict=True):
            np.testing.assert_array_equal(ours, others)
            assert ours.dtype == others.dtype
        for key in ("panorama", "distance", "action_mask", "carried"):
            if key in theirs[-1]:
                known = theirs[-1][f"_{key}"]
                np.testing.assert_array_equal(mine[-1][f"_{key}"], known)
                np.testing.assert_array_equal(mine[-1][key][known], theirs[-1][key][known])
    ends = [mine[2] | mine[3] for mine, _ in outcomes[1:]]
    assert sum(end.sum() for end in ends) > count


def test_seeds_decide_which_episodes_are_drawn() -> None:
    drawn = []
    for seed in (5, 5, 6):
        many = StreetWalkVectorEnv(GRAPH, EPISODES, 64)
        seen = [many.reset(seed=seed)[0]["episode"]]
        seen += [many.step(np.full(64, STOP))[0]["episode"] for _ in range(4)]
        drawn.append(np.stack(seen))
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (drawn[0] != drawn[2]).any()
    assert set(drawn[0].ravel()) == {0, 1, 2}


def test_episodes_can_be_chosen() -> None:
    many = StreetWalkVectorEnv(GRAPH, EPISODES, 3)
    seen, info = many.reset(options={"episodes": [2, 0, 1]})
    assert seen["episode"].tolist() == [2, 0, 1]
    assert info["panorama"].tolist() == ["b", "a", "a"]
    for wrong in ([0, 1], [0, 1, 3], [0, 1, -1]):
        with pytest.raises(BadInput, match="3 episode numbers from 0 to 2"):
            many.reset(options={"episodes": wrong})
    with pytest.raises(BadInput, match="no episode 3: choose one from 0 to 2"):
        env().reset(options={"episode": 3})


def test_returned_arrays_are_nobody_elses() -> None:
    many = StreetWalkVectorEnv(GRAPH, EPISODES, 4)
    results = [many.reset(seed=0)] + [many.step(np.zeros(4, int)) for _ in range(3)]
    arrays = [array for observation, *_, info in results for array in (*observation.values(), *info.values())]
    assert not any(np.shares_memory(a, b) for a, b in itertools.combinations(arrays, 2))
    assert not any(np.shares_memory(array, many.task.links) for array in arrays)


def test_bad_episodes_are_refused_at_once() -> None:
    with pytest.raises(BadInput, match="no episodes: give at least one"):
        StreetWalkEnv(GRAPH, [])
    with pytest.raises(NoStreetView, match="nowhere"):
        StreetWalkEnv(GRAPH, [InstructionEpisode("4", "Go.", ("nowhere",), 0.0)])


def test_without_gymnasium_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, environment.__name__)
    with pytest.raises(ModelUnavailable, match=r"pip install 'virl\[gym\]'"):
        importlib.import_module(environment.__name__)

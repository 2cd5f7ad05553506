"""Algorithm 1: whose actions are learned from a walk of the model's own."""

import needs_train  # noqa: F401 - first of all
import pytest
from made_blocks import made_episode
from made_lessons import MAX_ACTIONS, ScriptedWriter, made_lessons, made_routes, made_walks

from benchmarks.touchdown.train.samples import Lessons, told_with
from benchmarks.touchdown.train.tokens import IGNORED, Sample, action_tokens
from benchmarks.touchdown.train.walking import Rollout, TrainingRoute
from virl.platform.movers.discrete.actions import Action
from virl.platform.movers.discrete.oracle import Oracle
from virl.platform.navigators.velma.prompt import transcript

pytestmark = pytest.mark.slow

WALKS = made_walks()
ROUTE = WALKS.route(made_episode("r", (0, 0), [(0, 3), (90, 3)]))  # forward x3, right, forward x3, stop
LESSONS = made_lessons(WALKS, made_routes(WALKS))


def rolled(replies: str, route: TrainingRoute = ROUTE) -> Rollout:
    return WALKS.roll_out(route, ScriptedWriter(replies.split()))


def read_and_learned(lessons: Lessons, rollout: Rollout, sample: Sample) -> list[tuple[str, str]]:
    """For each decision, the action that stands in the transcript and the one that is learned."""
    told = WALKS.transcript(ROUTE, rollout.actions)
    tokens = lessons.encoder.encode(told.text)
    assert sample.ids == tokens.ids
    runs = action_tokens(tokens, WALKS.decided_spans(told))
    assert {place for place, label in enumerate(sample.labels) if label != IGNORED} <= {
        place for run in runs for place in run
    }
    return [
        (
            lessons.encoder.decode(sample.ids[run.start : run.stop]).strip(),
            lessons.encoder.decode(
                [label for label in sample.labels[run.start : run.stop] if label != IGNORED]
            ).strip(),
        )
        for run in runs
    ]


def test_a_walk_that_stops_beside_the_target_is_right_as_it_is() -> None:
    rollout = rolled("forward forward right forward forward stop")  # one panorama short
    assert rollout.states[-1].node != WALKS.graph.number(ROUTE.episode.target)
    sample, source = LESSONS.sample_response(ROUTE, rollout)
    assert source == "own"
    pairs = read_and_learned(LESSONS, rollout, sample)
    assert pairs == [(word, word) for word in ["forward", "forward", "right", "forward", "forward", "stop"]]
    assert sample.ids != LESSONS.gold(ROUTE).ids


def test_a_walk_that_goes_astray_reads_its_own_actions_and_learns_the_oracles() -> None:
    # misses the turn, goes on to the north, turns right a block too late and stops
    rollout = rolled("forward forward forward forward forward right forward forward stop")
    sample, source = LESSONS.sample_response(ROUTE, rollout)
    assert source == "oracle"
    assert read_and_learned(LESSONS, rollout, sample) == [
        ("forward", "forward"),
        ("forward", "forward"),
        ("forward", "right"),  # the turn
        ("forward", first_token("turn_around")),  # one beyond it: back is shortest
        ("forward", first_token("turn_around")),
        ("right", "right"),  # from the next crossing, over its street, the way is as short as back
        ("forward", "forward"),
        ("forward", "forward"),
        ("stop", "forward"),
    ]


def first_token(word: str) -> str:
    """What is learned where the model wrote something else altogether."""
    ids = LESSONS.encoder.encode(f"1. {word}").ids
    before = LESSONS.encoder.encode("1.").ids
    return LESSONS.encoder.decode(ids[len(before) : len(before) + 1]).strip()


def test_the_oracle_is_asked_in_the_states_of_the_walk() -> None:
    rollout = rolled("forward left forward forward stop")
    sample, source = LESSONS.sample_response(ROUTE, rollout)
    wanted = Oracle(WALKS.graph, ROUTE.episode.path).actions(rollout.states[:-1])[1:]
    learned = [pair[1] for pair in read_and_learned(LESSONS, rollout, sample)]
    assert source == "oracle"
    assert learned == [
        action.value if action is done else first_token(action.value)
        for action, done in zip(wanted, rollout.actions[1:], strict=True)
    ]


def test_stopping_is_needed_to_be_right() -> None:
    back_and_forth = ["forward", "forward", "right", "forward", "forward", "forward"]
    turns = ["turn_around"] * (MAX_ACTIONS - 1 - len(back_and_forth))
    rollout = rolled(" ".join(back_and_forth + turns))
    assert not rollout.is_stopped
    assert WALKS.graph.ids[rollout.states[-1].node] == ROUTE.episode.target
    sample, source = LESSONS.sample_response(ROUTE, rollout)
    assert source == "oracle"
    pairs = read_and_learned(LESSONS, rollout, sample)
    assert pairs[len(back_and_forth) :] == [("turn_around", first_token("stop"))] * len(turns)


def test_a_reply_that_is_no_action_is_walked_as_forward_and_learned_as_the_oracle_says() -> None:
    rollout = rolled("forward forward banana forward forward stop")
    assert rollout.invalid == ["banana"]
    sample, source = LESSONS.sample_response(ROUTE, rollout)
    assert source == "oracle"
    assert read_and_learned(LESSONS, rollout, sample)[2] == ("forward", "right")


@pytest.mark.parametrize("too_long", ["by its text", "while it walked"])
def test_a_walk_that_grows_too_long_gives_way_to_the_gold_one(too_long: str) -> None:
    rollout = rolled("forward forward forward stop")
    tokens = len(LESSONS.encoder.encode(WALKS.transcript(ROUTE, rollout.actions).text).ids)
    lessons = LESSONS
    if too_long == "by its text":
        lessons = Lessons(WALKS, LESSONS.encoder, 2048, tokens - 1)
        assert Lessons(WALKS, LESSONS.encoder, 2048, tokens).sample_response(ROUTE, rollout)[1] == "oracle"
    else:
        rollout = Rollout(rollout.start, rollout.moves[:2], too_long=True)
    assert lessons.sample_response(ROUTE, rollout) == (lessons.gold(ROUTE), "too_long")


def test_the_model_is_asked_by_the_text_that_is_learned() -> None:
    writer = ScriptedWriter(["forward", "forward", "right", "forward", "forward", "forward", "stop"])
    rollout = WALKS.roll_out(ROUTE, writer)
    observer, instruction = WALKS.observer, ROUTE.episode.instruction
    assert tuple(rollout.actions) == ROUTE.gold
    assert len(writer.prompts) == len(ROUTE.gold) - 1  # the opening one is given
    for asked, prompt in enumerate(writer.prompts, 1):
        assert prompt == transcript(observer, instruction, ROUTE.start, ROUTE.gold[:asked]).text
        assert prompt.endswith(f"{asked + 1}.")
        assert WALKS.transcript(ROUTE, ROUTE.gold).text.startswith(prompt)


def test_told_with_changes_the_words_at_the_spans_only() -> None:
    text, spans = told_with("1. left\n2. stop\nend", ((3, 7), (11, 15)), [Action.TURN_AROUND, Action.LEFT])
    assert text == "1. turn_around\n2. left\nend"
    assert [text[start:end] for start, end in spans] == ["turn_around", "left"]

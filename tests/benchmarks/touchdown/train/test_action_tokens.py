"""What is learned of a transcript: the tokens of the actions, exactly."""

from collections.abc import Callable, Iterable

import needs_train  # noqa: F401 - first of all
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_blocks import eight_episodes, made_episode
from made_lessons import gold_texts, made_lessons, made_routes, made_walks
from tiny_llama import byte_level, characters, metaspace, whole_lines
from transformers import PreTrainedTokenizerFast

from benchmarks.touchdown.train.tokens import (
    IGNORED,
    Encoder,
    Sample,
    action_tokens,
    corrected_sample,
    walked_sample,
)
from virl.errors import ModelUnavailable
from virl.platform.city.graph import InstructionEpisode
from virl.platform.movers.discrete.actions import Action

pytestmark = pytest.mark.slow

Maker = Callable[[Iterable[str]], PreTrainedTokenizerFast]
WALKS = made_walks()
ROUTES = made_routes(WALKS)


def words(encoder: Encoder, sample: Sample) -> list[str]:
    """Each run of learned tokens, decoded."""
    runs: list[list[int]] = []
    before = IGNORED
    for label in sample.labels:
        if label != IGNORED:
            if before == IGNORED:
                runs.append([])
            runs[-1].append(label)
        before = label
    return [encoder.decode(run).strip() for run in runs]


@pytest.mark.parametrize("tokenizer", [byte_level, metaspace, characters])
def test_the_learned_tokens_are_the_words_of_the_actions(tokenizer: Maker) -> None:
    lessons = made_lessons(WALKS, ROUTES, tokenizer)
    for route in ROUTES:
        sample = lessons.gold(route)
        assert words(lessons.encoder, sample) == [
            action.value for action in route.gold[1:]
        ]  # forward is given
        assert sample.shared == sample.cut == 0
        assert all(label in (IGNORED, token) for label, token in zip(sample.labels, sample.ids, strict=True))


@pytest.mark.parametrize("tokenizer", [byte_level, metaspace, characters])
def test_what_is_read_before_a_decision_is_the_prompt_that_the_model_gets(tokenizer: Maker) -> None:
    lessons = made_lessons(WALKS, ROUTES, tokenizer)
    route = ROUTES[0]
    told = WALKS.transcript(route, route.gold)
    tokens = lessons.encoder.encode(told.text)
    for step, run in enumerate(action_tokens(tokens, told.action_spans)):
        prompt = lessons.encoder.encode(WALKS.transcript(route, route.gold[:step]).text)
        assert tokens.ids[: run.start] == prompt.ids


def test_a_word_of_many_tokens_is_learned_whole() -> None:
    lessons = made_lessons(WALKS, ROUTES)
    actions = [Action.FORWARD, Action.TURN_AROUND, Action.STOP]
    told = WALKS.transcript(ROUTES[0], actions)
    tokens = lessons.encoder.encode(told.text)
    sample = walked_sample(tokens, told.action_spans, 2048)
    assert words(lessons.encoder, sample) == ["forward", "turn_around", "stop"]
    assert len(action_tokens(tokens, told.action_spans)[1]) > 1


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=80))
def test_whatever_the_instruction_says_only_actions_are_learned(instruction: str) -> None:
    for encoder in ENCODERS:
        made = eight_episodes()[0]
        route = WALKS.route(InstructionEpisode("any", instruction, made.path, made.heading))
        told = WALKS.transcript(route, route.gold)
        sample = walked_sample(encoder.encode(told.text), WALKS.decided_spans(told), 4096)
        assert words(encoder, sample) == [action.value for action in route.gold[1:]]


ENCODERS = [Encoder(make(gold_texts(WALKS, ROUTES))) for make in (byte_level, metaspace)]


def test_a_token_with_other_text_in_it_is_learned_and_counted() -> None:
    lessons = made_lessons(WALKS, ROUTES, whole_lines)
    sample = lessons.gold(ROUTES[0])
    learned = [label for label in sample.labels if label != IGNORED]
    assert lessons.encoder.decode(learned).split() == [
        "2.",
        "forward",
        "3.",
        "forward",
        "4.",
        "right",
        "5.",
        "forward",
        "6.",
        "forward",
        "7.",
        "stop",
    ]
    assert sample.shared == 6


def test_an_action_beyond_the_cutoff_is_not_learned_in_part() -> None:
    lessons = made_lessons(WALKS, ROUTES, characters)
    route = ROUTES[0]
    told = WALKS.transcript(route, route.gold)
    tokens, spans = lessons.encoder.encode(told.text), WALKS.decided_spans(told)
    third = action_tokens(tokens, spans)[2]
    sample = walked_sample(tokens, spans, third.stop - 1)
    assert len(sample.ids) == len(sample.labels) == third.stop - 1
    assert words(lessons.encoder, sample) == ["forward", "forward"]
    assert sample.cut == len(spans) - 2


def test_where_actions_differ_the_first_differing_token_is_the_last_that_is_learned() -> None:
    lessons = made_lessons(WALKS, ROUTES, characters)
    route = ROUTES[0]
    mine = WALKS.transcript(route, [Action.FORWARD, Action.FORWARD, Action.STOP])
    better = WALKS.transcript(route, [Action.FORWARD, Action.STOP])
    tokens, other = lessons.encoder.encode(mine.text), lessons.encoder.encode(better.text)
    sample = corrected_sample(tokens, mine.action_spans[1:2], other, better.action_spans[1:2], 2048)
    run = action_tokens(tokens, mine.action_spans)[1]
    assert lessons.encoder.decode(tokens.ids[run.start : run.stop]) == " forward"
    assert lessons.encoder.decode([label for label in sample.labels if label != IGNORED]) == " s"
    assert [place for place, label in enumerate(sample.labels) if label != IGNORED] == [
        run.start,
        run.start + 1,
    ]
    assert sample.ids == tokens.ids


def test_a_tokenizer_without_offsets_is_refused() -> None:
    class Slow:
        is_fast = False

    with pytest.raises(ModelUnavailable, match=r"tokenizer\.json"):
        Encoder(Slow())


def test_an_episode_of_the_other_data_set_decides_its_first_action_too() -> None:
    walks = made_walks("touchdown")
    episode = made_episode("t", (3, 0), [(0, 2)])
    route = walks.route(episode)
    lessons = made_lessons(walks, [route])
    assert words(lessons.encoder, lessons.gold(route)) == ["forward", "forward", "stop"]

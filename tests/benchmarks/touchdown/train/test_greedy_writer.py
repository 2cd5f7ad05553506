"""Greedy decoding with a kept cache writes what decoding from scratch writes."""

from pathlib import Path

import needs_train  # noqa: F401 - first of all
import pytest
import torch
from made_lessons import gold_texts, made_routes, made_walks
from tiny_llama import byte_level, save_tiny_llama

from benchmarks.touchdown.train.model import load_encoder, load_model
from benchmarks.touchdown.train.writer import GreedyWriter, PromptTooLong

pytestmark = pytest.mark.slow

WALKS = made_walks()
ROUTES = made_routes(WALKS)
LIMIT = 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_llama(tmp_path_factory.mktemp("llama"), byte_level(gold_texts(WALKS, ROUTES)))


@pytest.fixture(scope="module")
def model(folder: Path) -> object:
    return load_model(folder, "fp32", torch.device("cpu")).eval()


def writer_of(model: object, folder: Path, max_tokens: int = 2048) -> GreedyWriter:
    return GreedyWriter(model, load_encoder(folder), max_reply_tokens=LIMIT, max_tokens=max_tokens)


def from_scratch(model, encoder, prompt: str) -> str:
    ids = torch.tensor([encoder.encode(prompt).ids])
    written = []
    for _ in range(LIMIT):
        with torch.inference_mode():
            token = int(model(input_ids=ids, use_cache=False).logits[0, -1].argmax())
        if token == encoder.end:
            break
        written.append(token)
        ids = torch.cat([ids, torch.tensor([[token]])], dim=1)
    return encoder.decode(written)


def prompts() -> list[str]:
    """Of a walk as it grows, of another episode, of the first one again, and shorter than the one before."""
    growing = [
        WALKS.transcript(ROUTES[0], ROUTES[0].gold[:step]).text for step in range(1, len(ROUTES[0].gold))
    ]
    return [
        *growing,
        WALKS.transcript(ROUTES[1], ROUTES[1].gold[:3]).text,
        growing[2],
        growing[2],
        growing[0],
    ]


def test_replies_are_those_of_decoding_from_scratch(model: object, folder: Path) -> None:
    writer = writer_of(model, folder)
    encoder = load_encoder(folder)
    replies = [writer.reply(prompt) for prompt in prompts()]
    assert replies == [from_scratch(model, encoder, prompt) for prompt in prompts()]
    assert len(set(replies)) > 1


def test_what_was_read_is_not_fed_again(model: object, folder: Path) -> None:
    writer, encoder = writer_of(model, folder), load_encoder(folder)
    walk = [WALKS.transcript(ROUTES[0], ROUTES[0].gold[:step]).text for step in range(1, len(ROUTES[0].gold))]
    for prompt in walk:
        writer.reply(prompt)
    longest = len(encoder.encode(walk[-1]).ids)
    assert writer.fed <= longest + LIMIT * len(walk)
    fed = writer.fed
    writer.reply(walk[-1])
    assert writer.fed - fed <= LIMIT


def test_a_reply_ends_with_an_action_word(model: object, folder: Path) -> None:
    encoder = load_encoder(folder)
    wanted = encoder.encode("1. turn_around\n2. forward").ids

    class Parrot:
        """Writes the given tokens, whatever it reads."""

        config, device = model.config, model.device

        def __init__(self) -> None:
            self.next = len(encoder.encode("1.").ids)

        def __call__(self, **_: object) -> object:
            logits = torch.zeros(1, 1, 5000)
            logits[0, 0, wanted[self.next]] = 1.0
            self.next += 1
            return type("Output", (), {"logits": logits})

    writer = GreedyWriter(Parrot(), encoder, max_reply_tokens=50, max_tokens=2048)
    assert writer.reply("1.").strip() == "turn_around"


def test_a_prompt_over_the_limit_is_refused_before_it_is_read(model: object, folder: Path) -> None:
    prompt = prompts()[0]
    length = len(load_encoder(folder).encode(prompt).ids)
    writer_of(model, folder, length).reply(prompt)
    writer = writer_of(model, folder, length - 1)
    with pytest.raises(PromptTooLong):
        writer.reply(prompt)
    assert writer.fed == 0
    assert WALKS.roll_out(ROUTES[0], writer).too_long

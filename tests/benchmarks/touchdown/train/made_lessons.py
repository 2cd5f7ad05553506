"""The made blocks, ready to be walked and learned."""

from collections.abc import Callable, Iterable, Sequence

from made_blocks import eight_episodes, made_blocks
from tiny_llama import byte_level
from transformers import PreTrainedTokenizerFast

from benchmarks.touchdown.train.samples import Lessons
from benchmarks.touchdown.train.tokens import Encoder
from benchmarks.touchdown.train.walking import TrainingRoute, Walks
from virl.platform.city.graph import InstructionEpisode
from virl.platform.navigators.velma.verbalizer import Observer
from virl.platform.providers.graph.touchdown import Dataset

MAX_ACTIONS = 14


def made_walks(dataset: Dataset = "map2seq") -> Walks:
    return Walks(Observer(made_blocks()), dataset, MAX_ACTIONS)


def made_routes(walks: Walks, episodes: Sequence[InstructionEpisode] | None = None) -> list[TrainingRoute]:
    return [walks.route(episode) for episode in episodes or eight_episodes()]


def gold_texts(walks: Walks, routes: Sequence[TrainingRoute]) -> list[str]:
    return [walks.transcript(route, route.gold).text for route in routes]


def made_lessons(
    walks: Walks,
    routes: Sequence[TrainingRoute],
    tokenizer: Callable[[Iterable[str]], PreTrainedTokenizerFast] = byte_level,
    *,
    cutoff: int = 2048,
    rollout_cutoff: int = 1560,
) -> Lessons:
    return Lessons(walks, Encoder(tokenizer(gold_texts(walks, routes))), cutoff, rollout_cutoff)


class ScriptedWriter:
    """Replies in a given order; says what it was asked."""

    def __init__(self, replies: Sequence[str]) -> None:
        self._replies = iter(replies)
        self.prompts: list[str] = []

    def reply(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return next(self._replies)

"""How many requests and tokens does a run of each agent take, and how much do consecutive requests share?

    python -m benchmarks.perf.prompts [--agent NAME ...] [--city NAME] [--episodes N] [--json]

The rules answer in the place of a model, so no request is sent. Every question is written out as one of
OpenAI's models would be sent it, its system message first, and counted as virl estimates tokens: bytes / 3,
and pictures apart. The share is that of the letters that a request has in common with the beginning of the
one before it, in the same run and to the same prompt: what a provider's prompt cache can serve. The mean is
weighted by length. New are the tokens outside that common beginning.

VELMA and NavGPT walk the first episodes of an export of the made town, once in each form.
"""

import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from os.path import commonprefix
from pathlib import Path
from typing import Any, Self

from langchain_core.language_models import FakeListChatModel

from benchmarks.touchdown.agents import demonstrations
from benchmarks.touchdown.dataset import Data, open_data
from benchmarks.touchdown.options import Options
from virl.bench.agent_runs import run_in_folder
from virl.mind.base import Mind, Pictures, Prompt, ReplyT
from virl.mind.chat.question import build_question
from virl.mind.providers import expected_usage, manner_of
from virl.mind.rules import RuleMind
from virl.mind.settings import Abilities
from virl.money.ledger import Ledger
from virl.platform.movers.discrete.task import OPENING, start_state
from virl.platform.navigators.instruction.base import InstructionNavigator, PromptForm
from virl.platform.navigators.navgpt.navigator import NavGptNavigator
from virl.platform.navigators.navgpt.sources import GraphObservations
from virl.platform.navigators.velma.navigator import VelmaNavigator
from virl.platform.providers.cities import Access, opened_city

from .figures import Figures, command, figures

AGENTS = ("hiro", "peng", "aria", "vivek", "local", "ling", "diego")
WALKERS = ("velma", "navgpt")
FORMS: tuple[PromptForm, ...] = ("text", "chat")
MANNER = manner_of("openai:gpt-5-mini")
NO_MODEL = FakeListChatModel(responses=[""])


@dataclass
class Sent:
    """The requests to one prompt in one run: texts, tokens and number of pictures."""

    texts: list[str] = field(default_factory=list)
    tokens: int = 0
    pictures: int = 0


@dataclass(frozen=True, slots=True)
class WrittenOut:
    """A mind of rules that also writes each question out as a model would be sent it."""

    sent: dict[str, Sent]
    """Requests so far, by the prompt's name."""
    rules: RuleMind

    @property
    def name(self) -> str:
        """`"written-out"`, which is not the rules' name, so that it is asked as a model is."""
        return "written-out"

    @property
    def ledger(self) -> Ledger:
        """The ledger of the rules."""
        return self.rules.ledger

    def with_own_ledger(self) -> Self:
        """Return such a mind with a ledger of its own, which keeps questions in the same place."""
        return type(self)(self.sent, self.rules.with_own_ledger())

    def ask(
        self,
        prompt: Prompt[ReplyT],
        *,
        images: Pictures = (),
        rule_inputs: Mapping[str, object] = {},
        **inputs: object,
    ) -> ReplyT:
        """Keep the question as a model would be sent it, and return the rules' reply."""
        question = build_question(prompt, inputs, (), MANNER, Abilities(), NO_MODEL)
        sent = self.sent[prompt.name]
        sent.texts.append("\n".join(message.text for message in question.messages))
        sent.tokens += expected_usage(question.messages, reply=0).input_tokens
        sent.pictures += len(images)
        return self.rules.ask(prompt, images=images, rule_inputs=rule_inputs, **inputs)


def main() -> None:
    """Measure each agent's requests, and print the table."""
    parser = command(__doc__)
    parser.add_argument("--agent", action="append", choices=(*AGENTS, *WALKERS))
    parser.add_argument("--city", default="virlton")
    parser.add_argument("--episodes", type=int, default=5, help="walked by velma and navgpt; default 5")
    options = parser.parse_args()
    wanted = options.agent or (*AGENTS, *WALKERS)
    with figures(options) as found:
        found.show(
            "agent        prompt                       requests   tokens      new  pictures  common beginning"
        )
        for agent in wanted:
            if agent in AGENTS:
                _show_agent(found, agent, [_prompts_of_run(agent, options.city)])
                continue
            for form in FORMS:
                _show_agent(found, f"{agent} {form}", _prompts_of_walks(agent, form, options.episodes))


def _prompts_of_run(agent: str, city: str) -> dict[str, Sent]:
    """Return the requests of an agent's run in a city, by prompt."""
    sent: dict[str, Sent] = defaultdict(Sent)
    mind = WrittenOut(sent, RuleMind())
    with tempfile.TemporaryDirectory() as folder, opened_city(city, Access()) as opened:
        run_in_folder(agent, opened, Path(folder) / "run", mind=mind)
    return sent


def _prompts_of_walks(agent: str, form: PromptForm, episodes: int) -> list[dict[str, Sent]]:
    """Return the requests of each walk of a navigator, by prompt."""
    options = Options(agent=agent, form=form)
    data = open_data(replace(options.selection, limit=episodes))
    make = (_velma_maker if agent == "velma" else _navgpt_maker)(data, options)
    runs = []
    for episode in data.episodes.values():
        sent: dict[str, Sent] = defaultdict(Sent)
        walk = make(WrittenOut(sent, RuleMind())).walk
        list(walk(episode.instruction, start_state(data.graph, episode, options.dataset)))
        runs.append(sent)
    return runs


def _velma_maker(data: Data, options: Options) -> Callable[[Mind], InstructionNavigator]:
    """Return a function that makes a VELMA navigator with a given mind."""
    shown = demonstrations(data, options)
    opening = OPENING[options.dataset]
    return lambda mind: VelmaNavigator(data.graph, mind, examples=shown, opening=opening, form=options.form)


def _navgpt_maker(data: Data, options: Options) -> Callable[[Mind], InstructionNavigator]:
    """Return a function that makes a NavGPT navigator with a given mind."""
    seen = GraphObservations(data.graph)
    return lambda mind: NavGptNavigator(data.graph, mind, seen, form=options.form)


def _show_agent(found: Figures, agent: str, runs: list[dict[str, Sent]]) -> None:
    """Record and print the figures of an agent's runs, by prompt and for all prompts together."""
    for prompt in sorted({name for run in runs for name in run}):
        found |= _prompt_figures(found, agent, prompt, [run[prompt] for run in runs if prompt in run])
    every = [sent for run in runs for sent in run.values()]
    found |= _prompt_figures(found, agent, "all", every)


def _prompt_figures(found: Figures, agent: str, prompt: str, sent: list[Sent]) -> dict[str, Any]:
    """Return and print the requests, tokens, pictures and common share of one prompt's requests."""
    requests, tokens = sum(len(one.texts) for one in sent), sum(one.tokens for one in sent)
    pictures, pairs = sum(one.pictures for one in sent), [two for one in sent for two in pairwise(one.texts)]
    common = sum(len(commonprefix(pair)) for pair in pairs)  # noqa: RUF071 - of texts, not of paths
    later = sum(len(after) for _, after in pairs)
    letters = sum(len(text) for one in sent for text in one.texts)
    new, share = round(tokens * (1 - common / letters)), common / later if later else None
    shown = "" if share is None else f"{share:.0%}"
    found.show(f"{agent:<12} {prompt:<28} {requests:>8} {tokens:>8} {new:>8} {pictures or '':>9} {shown:>17}")
    figure = {"requests": requests, "tokens": tokens, "new": new, "pictures": pictures, "common": share}
    return {f"{agent}/{prompt}": figure}


if __name__ == "__main__":
    main()

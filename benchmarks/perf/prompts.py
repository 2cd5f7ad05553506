"""How many requests and tokens does a run of each agent take, and how much do consecutive requests share?

    python -m benchmarks.perf.prompts [--agent NAME ...] [--city NAME] [--json]

The rules answer in the place of a model, so no request is sent. Every question is written out as it would
be sent, its system message first. Tokens are letters / 4, pictures apart. The share is that of the letters
that a request has in common with the beginning of the one before it, in the same run and to the same prompt:
what a provider's prompt cache can serve. The mean is weighted by length.
"""

import tempfile
from collections import defaultdict
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Self

from virl.bench.agent_runs import run_in_folder
from virl.mind.base import Ledger, Pictures, Prompt, ReplyT
from virl.mind.prompt import render_parts
from virl.mind.rules import RuleMind
from virl.platform.providers.open import Access, opened_city

from .figures import Figures, command, figures

AGENTS = ("hiro", "peng", "aria", "vivek", "local", "ling", "diego")
LETTERS_A_TOKEN = 4


class WrittenOut:
    """The rules, asked as a model is; what is asked is kept."""

    def __init__(self, sent: dict[str, list[str]], rules: RuleMind) -> None:
        self.sent, self._rules = sent, rules
        self.pictures = 0

    @property
    def name(self) -> str:
        """Not that of the rules, so that it is asked as a model is."""
        return "written-out"

    @property
    def ledger(self) -> Ledger:
        """That of the rules."""
        return self._rules.ledger

    def apart(self) -> Self:
        """The same, with a ledger of its own."""
        return type(self)(self.sent, self._rules.apart())

    def ask(self, prompt: Prompt[ReplyT], *, images: Pictures = (), **inputs: object) -> ReplyT:
        """As `Mind.ask`."""
        self.sent[prompt.name].append("\n".join(render_parts(prompt, inputs)))
        self.pictures += len(images)
        return self._rules.ask(prompt, images=images, **inputs)


def main() -> None:
    """Measure and print."""
    parser = command(__doc__)
    parser.add_argument("--agent", action="append", choices=AGENTS)
    parser.add_argument("--city", default="virlton")
    options = parser.parse_args()
    with figures(options) as found:
        found.show("agent   prompt                       requests   tokens   pictures   common beginning")
        for agent in options.agent or AGENTS:
            _measure(found, agent, options.city)


def _measure(found: Figures, agent: str, city: str) -> None:
    sent: dict[str, list[str]] = defaultdict(list)
    mind = WrittenOut(sent, RuleMind())
    with tempfile.TemporaryDirectory() as folder, opened_city(city, Access()) as opened:
        run_in_folder(agent, opened, Path(folder) / "run", mind=mind)
    for prompt, requests in sorted(sent.items()):
        tokens = sum(map(len, requests)) // LETTERS_A_TOKEN
        common = common_share(requests)
        share = "" if common is None else f"{common:.0%}"
        found |= {f"{agent}/{prompt}": {"requests": len(requests), "tokens": tokens, "common": common}}
        found.show(f"{agent:<7} {prompt:<28} {len(requests):>8} {tokens:>8}              {share:>13}")
    found.show(f"{agent:<7} pictures: {mind.pictures}")


def common_share(requests: list[str]) -> float | None:
    """The share of the letters of all requests but the first that the one before has, too; `None` for one."""
    letters = sum(map(len, requests[1:]))
    return sum(_common(*pair) for pair in pairwise(requests)) / letters if letters else None


def _common(before: str, after: str) -> int:
    same = takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))
    return sum(1 for _ in same)


if __name__ == "__main__":
    main()

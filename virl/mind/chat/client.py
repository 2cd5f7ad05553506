"""What questions and conversations share: one model, what it takes, what is kept and written down of it."""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass

from langchain_core.load import dumpd

from virl.errors import CannotWrite, RequestRefused
from virl.mind.cache import ReplyCache
from virl.mind.chat.abilities import LEFT_OUT, Abilities, NotTaken
from virl.mind.chat.asking import Model
from virl.mind.chat.providers import ChatManner
from virl.mind.chat.tracing import tell_kept
from virl.mind.pictures import Describe
from virl.mind.prices import Usage
from virl.mind.sending import RequestUsage, Sender
from virl.money.book import Exchange
from virl.money.ledger import Ledger
from virl.redaction import Redaction

_NOT_PART_OF_REQUEST = (
    "max_retries", "request_timeout", "timeout", "default_request_timeout", "client_kwargs", "stream_usage",
)  # fmt: skip

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class ModelClient:
    """One model as it is asked in a run."""

    model: Model
    name: str
    """Name of the model, such as `"openai:gpt-5-mini"`."""
    request: Mapping[str, object]
    """The part of every request that is the model's own, as `own_part` gives it."""
    sender: Sender
    manner: ChatManner
    abilities: Abilities
    cache: ReplyCache | None
    retries: int
    """Further requests after the first where a reply is no good, a question."""
    ledger: Ledger
    describe: Describe | None = None
    """Describer in words of what views show, where the model takes no pictures."""

    def learn(self, refused: NotTaken, tally: RequestUsage) -> None:
        """Leave out from now on what was refused.

        Raises:
            RequestRefused: it cannot be left out; names the setting that helps, if there is one.
        """
        if not self.abilities.learn(refused, self.model):
            raise RequestRefused(f"{refused}{self.abilities.advice(refused.ability, self.name)}") from None
        self._say_left_out(tally)

    def _say_left_out(self, tally: RequestUsage) -> None:
        """Say once of each ability that is missing; pictures are spoken of where some are left out."""
        for ability in self.abilities.left_out:
            if ability != "pictures":
                self.sender.remarks.say(ability, f"{self.name} {LEFT_OUT[ability]}", tally.remarks)

    def says_blind(self, tally: RequestUsage) -> None:
        """Say once that the model takes no pictures."""
        how = "left out" if self.describe is None else "described in words"
        self.sender.remarks.say("pictures", f"{self.name} takes no pictures: they are {how}", tally.remarks)

    def keep(self, key: str, prompt: str, reply: dict[str, object]) -> None:
        """Keep a reply for later runs, where replies are kept.

        Args:
            key: of `request_key`.
            prompt: name of the prompt.
            reply: as plain data.
        """
        if self.cache is None:
            return
        try:
            self.cache.put(key, model=self.name, prompt=prompt, reply=reply)
        except CannotWrite as fault:
            _log.warning("%s: cannot keep replies there: %s", self.cache.folder, fault)

    def write_down(
        self,
        prompt: str,
        inputs: Mapping[str, object],
        reply: Mapping[str, object],
        tally: RequestUsage,
        *,
        cached: bool = False,
    ) -> None:
        """Add what was asked and replied to the ledger, with what it took.

        Args:
            prompt: name of the prompt.
            inputs: what was asked.
            reply: what was replied.
            tally: tokens and tries.
            cached: whether the reply was kept from before.
        """
        self._say_left_out(tally)
        if cached:
            tell_kept(self.sender.parameters, prompt)
        if not cached and self.sender.usd(Usage()) is None:
            told = f"no price is known for {self.name}: its tokens count as 0 dollars"
            self.sender.remarks.say("price", told, tally.remarks)
        self.ledger.add(
            Exchange(
                prompt,
                self.name,
                inputs,
                reply,
                cached=cached,
                attempts=tally.attempts,
                input_tokens=tally.usage.input_tokens + tally.unknown_tokens,
                output_tokens=tally.usage.output_tokens,
                usd=tally.usd + tally.unknown_usd,
                seconds=time.perf_counter() - tally.started,
                remark="; ".join(tally.remarks),
            )
        )


def own_part(model: Model, name: str, redaction: Redaction) -> dict[str, object]:
    """Return the part of every request that is the model's own, without credentials; not to be changed.

    Args:
        model: of LangChain.
        name: such as `openai:gpt-5-mini`.
        redaction: takes keys out.
    """
    parameters = dumpd(model).get("kwargs", {})
    for one in _NOT_PART_OF_REQUEST:
        parameters.pop(one, None)
    return {"model": name, "parameters": redaction.tree(parameters)}

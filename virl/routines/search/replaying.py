"""A mind that first gives the replies that a journal holds, so that a run goes on as if it had not ended."""

from collections import deque
from collections.abc import Iterable, Mapping

from virl.journal.records import ExchangeRecord
from virl.mind.base import Mind, Pictures, Prompt, ReplyT
from virl.money.ledger import Ledger


class ReplayedMind:
    """Answers from a journal as long as it lasts, in its order, then asks.

    Args:
        mind: who answers afterwards, and whose ledger this is.
        recorded: the exchanges of the steps that are written down.
    """

    def __init__(self, mind: Mind, recorded: Iterable[ExchangeRecord]) -> None:
        self._mind = mind
        self._recorded = deque(recorded)

    @property
    def name(self) -> str:
        """That of the mind."""
        return self._mind.name

    @property
    def ledger(self) -> Ledger:
        """That of the mind; replies from the journal are not written down again."""
        return self._mind.ledger

    def apart(self) -> Mind:
        """The mind, with a ledger of its own and without what was recorded."""
        return self._mind.apart()

    def ask(
        self,
        prompt: Prompt[ReplyT],
        *,
        images: Pictures = (),
        rule_inputs: Mapping[str, object] = {},
        **inputs: object,
    ) -> ReplyT:
        """As `Mind.ask`."""
        if self._recorded:
            return prompt.reply.model_validate(self._recorded.popleft().reply)
        return self._mind.ask(prompt, images=images, rule_inputs=rule_inputs, **inputs)

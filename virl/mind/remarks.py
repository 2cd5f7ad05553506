"""What is said once of a model: on the terminal, and in the journal with the exchange that it came with."""

import logging
from dataclasses import dataclass, field

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Remarks:
    """What has been said of a model; shared by all who ask it."""

    _said: set[str] = field(default_factory=set)

    def say(self, topic: str, text: str, noted: list[str]) -> None:
        """Say something, unless its topic has been spoken of before.

        Args:
            topic: what it is about, such as `pictures`.
            text: one line.
            noted: of the question that brought it up; is added to.
        """
        if topic not in self._said:
            self._said.add(topic)
            noted.append(text)
            _log.warning("%s", text)

    def has(self, topic: str) -> bool:
        """Whether it has been spoken of."""
        return topic in self._said

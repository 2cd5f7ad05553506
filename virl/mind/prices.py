"""What replies cost: tokens times the prices in `platform/prices.yaml`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from math import ceil
from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from virl import resources
from virl.settings.model import Settings, load_settings

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage

_BYTES_A_TOKEN = 3.0
"""Of English text there are about four, of others two or three; chosen to expect rather too much."""
PICTURE_TOKENS = 1_500
"""A view of 640 by 640 pixels takes 425 to 1,105 with most models; chosen. `Price.picture` has exceptions."""

_SNAPSHOT = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8})$")


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more requests."""

    input_tokens: int = 0
    """All input, what the provider's prompt cache served included."""
    cached_input_tokens: int = 0
    output_tokens: int = 0
    written_input_tokens: int = 0
    """The part of the input that the provider wrote into its prompt cache."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.cached_input_tokens + other.cached_input_tokens,
            self.output_tokens + other.output_tokens,
            self.written_input_tokens + other.written_input_tokens,
        )


def expected_usage(
    messages: "Sequence[BaseMessage]", *, reply: int, beside: int = 0, picture: int = PICTURE_TOKENS
) -> Usage:
    """As many tokens as a request may take, its reply included: rather too many than too few.

    Args:
        messages: what is sent.
        reply: tokens of a reply at most.
        beside: letters sent with them, such as the schemas of tools.
        picture: tokens of a picture.
    """
    blocks = [block for message in messages for block in message.content_blocks]
    pictures = sum(block["type"] == "image" for block in blocks)
    size = beside + sum(_bytes(message.text) for message in messages)
    return Usage(ceil(size / _BYTES_A_TOKEN) + pictures * picture, 0, reply)


def said_usage(answer: "AIMessage") -> int:
    """About as many tokens as an answer has, for servers that do not count them."""
    called = sum(_bytes(f"{call['name']}{call['args']}") for call in answer.tool_calls)
    return ceil((_bytes(answer.text) + called) / _BYTES_A_TOKEN)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


class PriceSource(Settings):
    """Where prices were read."""

    url: str
    """The provider's page that states them."""
    via: str | None = None
    """The page that was read, where it was not the provider's own."""
    read: date


class Price(Settings):
    """Prices of one model: dollars per million tokens."""

    input: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)
    """Input from the provider's prompt cache; `None` counts it as any input."""
    cache_write: float | None = Field(default=None, ge=0)
    """Input that is written into the provider's prompt cache; `None` counts it as any input."""
    output: float = Field(ge=0)
    picture: int = Field(default=PICTURE_TOKENS, ge=0)
    """Tokens of a picture at most, where they are more than usual."""
    source: str


class Prices(Settings):
    """The prices of models by name, such as `openai:gpt-5-mini`."""

    sources: dict[str, PriceSource]
    models: dict[str, Price]

    @model_validator(mode="after")
    def _sources_are_named(self) -> "Prices":
        unnamed = {price.source for price in self.models.values()} - self.sources.keys()
        if unnamed:
            raise ValueError(f"no source named {', '.join(sorted(unnamed))}")
        return self

    def picture_tokens(self, model: str) -> int:
        """Tokens of a picture at most."""
        price = self.price_of(model)
        return PICTURE_TOKENS if price is None else price.picture

    def knows(self, model: str) -> bool:
        """Whether the model's price is known."""
        return self.usd(model, Usage()) is not None

    def with_price(self, model: str, read: float, written: float) -> "Prices":
        """The same with a user's price of a model: dollars for a million tokens in and out."""
        own = Price(input=read, output=written, source="user")
        return self.model_copy(update={"models": {**self.models, model: own}})

    def usd(self, model: str, usage: Usage) -> float | None:
        """Dollars for tokens; `None` if the model's price is unknown."""
        price = self.price_of(model)
        if price is None:
            return None
        cached_price = price.input if price.cached_input is None else price.cached_input
        write_price = price.input if price.cache_write is None else price.cache_write
        fresh = usage.input_tokens - usage.cached_input_tokens - usage.written_input_tokens
        dollars = fresh * price.input + usage.cached_input_tokens * cached_price
        dollars += usage.written_input_tokens * write_price
        return (dollars + usage.output_tokens * price.output) / 1e6

    def price_of(self, model: str) -> Price | None:
        """The price of a model; `None` if it is unknown. A dated snapshot costs as its model."""
        return self.models.get(model) or self.models.get(_SNAPSHOT.sub("", model))


@cache
def load_prices() -> Prices:
    """The prices that come with virl.

    Raises:
        BadInput: the file is broken; names file, line and field.
    """
    return load_settings(resources.data_folder("platform") / "prices.yaml", Prices)

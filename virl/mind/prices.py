"""Dollars of requests to models, at the prices of `genai-prices`, and the tokens that they take."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage

_BYTES_A_TOKEN = 3.0
"""Bytes of a token: about four in English, two or three in others; chosen to expect rather too much."""
PICTURE_TOKENS = 1_500
"""A view of 640 by 640 pixels takes 425 to 1,105 with most models; chosen."""
_DEAR_PICTURES = MappingProxyType({"openai:gpt-4o-mini": 48_169})
"""Tokens of a picture at most, by models with which they are more than usual.

A picture costs as much with gpt-4o-mini as with gpt-4o, so it counts as 33 times the tokens: 2,833, and 5,667
for each of at most 8 tiles (https://platform.openai.com/docs/guides/images-vision#calculating-costs).
"""

_PROVIDERS = MappingProxyType(
    {"anthropic": "anthropic", "google_genai": "google", "openai": "openai", "openai-completion": "openai"}
)
"""Providers in `genai-prices`, by their names in models; only those whose tokens of pictures are known."""
_OWN_SERVERS = "gpt-oss-"
"""The beginning of names that `genai-prices` lists with OpenAI, which does not serve them: users do."""
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
    messages: "Sequence[BaseMessage]",
    *,
    reply: int,
    beside: int = 0,
    picture: int = PICTURE_TOKENS,
    density: float = 1.0,
) -> Usage:
    """Return as many tokens as a request may take, its reply included: rather too many than too few.

    All input counts as written into the provider's cache, which never costs less than other input.

    Args:
        messages: what is sent.
        reply: tokens of a reply at most.
        beside: letters sent with them, such as the schemas of tools.
        picture: tokens of a picture.
        density: tokens that this model's tokenizer has made of a text, for each that was expected.
    """
    blocks = [block for message in messages for block in message.content_blocks]
    pictures = sum(block["type"] == "image" for block in blocks)
    size = beside + sum(_bytes(message.text) for message in messages)
    tokens = ceil(density * size / _BYTES_A_TOKEN) + pictures * picture
    return Usage(tokens, 0, reply, written_input_tokens=tokens)


def said_usage(answer: "AIMessage") -> int:
    """Return the approximate number of tokens of an answer, for servers that do not count them."""
    called = sum(_bytes(f"{call['name']}{call['args']}") for call in answer.tool_calls)
    return ceil((_bytes(answer.text) + called) / _BYTES_A_TOKEN)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def picture_tokens(model: str) -> int:
    """Return the tokens that a picture takes at most."""
    return _DEAR_PICTURES.get(_SNAPSHOT.sub("", model), PICTURE_TOKENS)


def request_usd(model: str, usage: Usage, own: tuple[float, float] | None = None) -> float | None:
    """Return the dollars of one request; `None` if the model's price is unknown.

    Not for sums of requests: with some models, all tokens of a long request cost more.

    Args:
        model: its name, such as `openai:gpt-5-mini`. A dated snapshot without a price of its own costs as its
            model.
        usage: tokens of the request and its reply.
        own: dollars for a million tokens in and out, as the user states them; they go before any other price.
    """
    if own is not None:
        return (usage.input_tokens * own[0] + usage.output_tokens * own[1]) / 1e6
    provider, _, name = model.partition(":")
    if provider not in _PROVIDERS or name.startswith(_OWN_SERVERS):
        return None
    import genai_prices  # noqa: PLC0415  takes 50 to 100 ms, and only language models need it

    read = min(usage.cached_input_tokens, usage.input_tokens)
    counts = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        cache_read_tokens=read,
        cache_write_tokens=min(usage.written_input_tokens, usage.input_tokens - read),
        output_tokens=usage.output_tokens,
    )
    names = (name, _SNAPSHOT.sub("", name))
    for one in names:
        try:
            found = genai_prices.calc_price(counts, one, provider_id=_PROVIDERS[provider])
        except LookupError:
            continue
        listed = {key for key, price in vars(found.model_price).items() if price is not None}
        chats = {"input_mtok", "output_mtok"} <= listed and not any("image" in key for key in listed)
        # the package also finds a model for a name that only begins as the model's does
        if chats and found.model.id in names:
            return float(found.total_price)
    return None

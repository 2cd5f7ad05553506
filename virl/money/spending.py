"""Prices, questions to minds, and sums of what was asked and paid."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Price:
    """List price of one request."""

    sku: str
    """The provider's name for what is billed."""
    events: int
    """Billable events, such as 1, or the pairs of a matrix."""
    micro_usd: float
    """Millionths of a dollar for all events; 0 if unknown."""
    unknown: str = ""
    """Advice on which setting gives the price, if it is unknown; else empty."""

    @property
    def usd(self) -> float:
        """Dollars for all events."""
        return self.micro_usd / 1e6


FREE = Price("free", 1, 0)
"""Price of a request to a service that bills nothing."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One question put to a mind and its reply, for the journal."""

    prompt: str
    mind: str
    """Name of the mind, such as `"rules"` or `"openai:gpt-5-mini"`."""
    inputs: Mapping[str, object]
    reply: Mapping[str, object]
    cached: bool = False
    """True for an answer from the reply cache: it cost nothing now."""
    attempts: int = 1
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0
    seconds: float = 0.0
    remark: str = ""
    """A remark made once about a model, such as that it takes no pictures, at the question that showed it."""


@dataclass(frozen=True, slots=True)
class Spending:
    """Requests to providers and their list price, over a part of a run."""

    sent: Mapping[str, int] = field(default_factory=dict)
    """Requests that were tried on the network, each further try included, by endpoint."""
    cached: Mapping[str, int] = field(default_factory=dict)
    """Requests that a cache or a recording answered, by endpoint."""
    billed: Mapping[str, int] = field(default_factory=dict)
    """Billable events by SKU: a request of unknown outcome counts, one that was refused does not."""
    usd: float = 0.0
    """Dollars by the list price of the billed events, without models."""
    received: Mapping[str, int] = field(default_factory=dict)
    """Bytes of the replies that came over the network, good or not, by endpoint."""

    def __add__(self, other: "Spending") -> "Spending":
        return Spending(
            Counter(self.sent) + Counter(other.sent),
            Counter(self.cached) + Counter(other.cached),
            Counter(self.billed) + Counter(other.billed),
            self.usd + other.usd,
            Counter(self.received) + Counter(other.received),
        )


_LEAST_USD = 1e-6
"""Dollars; less is rounding."""


@dataclass(frozen=True, slots=True)
class Paid:
    """Sums of an account by the book; requests of unknown outcome count in full."""

    usd: float = 0.0
    """Dollars, of models and of providers together."""
    sent: Mapping[str, int] = field(default_factory=dict)
    """Requests to providers, each further try included, by endpoint."""
    provider_usd: float = 0.0
    """The part of `usd` that went to providers."""
    calls: int = 0
    """Requests to models, each further try included."""
    input_tokens: int = 0
    output_tokens: int = 0

    def minus(self, other: "Paid") -> "Paid":
        """Return what these sums have beyond others; dollar differences from rounding are left out."""
        total, provider = self.usd - other.usd, self.provider_usd - other.provider_usd
        model_usd, provider_usd = (usd if usd >= _LEAST_USD else 0.0 for usd in (total - provider, provider))
        return Paid(
            model_usd + provider_usd,
            Counter(self.sent) - Counter(other.sent),
            provider_usd,
            max(0, self.calls - other.calls),
            max(0, self.input_tokens - other.input_tokens),
            max(0, self.output_tokens - other.output_tokens),
        )

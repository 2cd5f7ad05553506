"""Faults on purpose: the kinds, their rates, and the draw of the requests that meet one."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from types import MappingProxyType
from typing import TYPE_CHECKING

from virl.errors import BadInput

if TYPE_CHECKING:
    from starlette.requests import Request

TIMEOUT, GARBAGE, HALF = "timeout", "garbage", "half"  # kinds of faults beside HTTP statuses


@dataclass(frozen=True, slots=True)
class Faults:
    """Shares of requests that a server makes fail on purpose, by kind of fault.

    Raises:
        BadInput: an unknown kind, a rate outside [0, 1], or rates that sum to more than 1.
    """

    rates: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """Share of requests by kind of fault: an HTTP status from 400 to 599, `timeout`, `garbage` or `half`.

    A timeout gives no answer until `hang_s` have passed; garbage is a body of noise, half its first half,
    both with status 200."""

    def __post_init__(self) -> None:
        """Raise `BadInput` for unknown kinds, rates outside [0, 1], or a sum of rates above 1."""
        for kind, rate in self.rates.items():
            known = kind in {TIMEOUT, GARBAGE, HALF} or (kind.isdecimal() and 400 <= int(kind) <= 599)
            if not known:
                raise BadInput(
                    f"unknown fault {kind!r}: use a status from 400 to 599, timeout, garbage or half"
                )
            if not 0 <= rate <= 1:
                raise BadInput(f"fault {kind}: rate {rate:g} is outside [0, 1]")
        # Sums of rates such as 0.1 have rounding errors.
        if sum(self.rates.values()) > 1 + 1e-9:
            raise BadInput("the rates of the faults sum to more than 1")

    def choose_fault(self, chance: float) -> str | None:
        """Return the kind of fault that a number in [0, 1) selects by the rates; `None` for no fault."""
        for kind, rate in self.rates.items():
            if chance < rate:
                return kind
            chance -= rate
        return None


def parse_faults(text: str) -> Faults:
    """Parse faults and rates from a text such as "429:0.05,timeout:0.01"; raise `BadInput` otherwise."""
    return Faults(parse_rates(text, "fault", "429:0.05"))


def parse_rates(text: str, noun: str, example: str) -> Mapping[str, float]:
    """Parse shares by kind from text such as "429:0.05"; else raise `BadInput` with `noun` and `example`.

    Args:
        text: the rates.
        noun: the noun for a kind in the error, such as "fault".
        example: a rate for the error, such as "429:0.05".

    Raises:
        BadInput: a part has no number.
    """
    rates: dict[str, float] = {}
    for part in filter(None, text.replace(" ", "").split(",")):
        kind, _, rate = part.partition(":")
        try:
            rates[kind] = float(rate)
        except ValueError:
            raise BadInput(f"{noun} {part!r}: write it as kind:rate, such as {example}") from None
    return MappingProxyType(rates)


def chance_of(seed: int, digest: str, before: int) -> float:
    """Return a number in [0, 1) drawn from a seed, a request's digest and how often it came `before`.

    Args:
        seed: the server's seed.
        digest: a hash of the request's path, parameters and body.
        before: how often the same request came before.
    """
    # By the request and not in sequence: the order of requests does not change which of them fail.
    drawn = blake2b(f"{seed} {digest} {before}".encode(), digest_size=8).digest()
    return int.from_bytes(drawn, "big") / 2**64


async def hang(request: "Request", seconds: float) -> None:
    """Wait until the client closes its connection, or `seconds` have passed."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while loop.time() < end and not await request.is_disconnected():
        await asyncio.sleep(min(0.05, seconds))


def hints(status: int, retry_after_s: int | None) -> dict[str, str]:
    """Return the header `Retry-After`, in seconds, for an answer with status 429 or 503; else no header."""
    return {"Retry-After": str(retry_after_s)} if retry_after_s is not None and status in {429, 503} else {}

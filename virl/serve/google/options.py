"""What can be set about a server: its key, how slow and how faulty it is, and how much it serves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from virl.errors import BadInput
from virl.serve.gate import GateOptions
from virl.serve.limits import RequestLimits

TIMEOUT, GARBAGE = "timeout", "garbage"
WIDTHS = (512, 1024, 2048, 4096, 8192, 16384)
"""Pixels of a whole panorama at zoom levels 0 to 5 of Map Tiles."""


@dataclass(frozen=True, slots=True)
class Faults:
    """How often the server fails on purpose.

    Args:
        rates: by kind of fault the share of requests that meet it; a kind is an HTTP status from 400 to 599,
            `timeout` (no answer until `hang_s` have passed) or `garbage` (status 200 and a body of noise).

    Raises:
        BadInput: an unknown kind, a rate outside [0, 1], or rates that sum to more than 1.
    """

    rates: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        for kind, rate in self.rates.items():
            known = kind in {TIMEOUT, GARBAGE} or (kind.isdecimal() and 400 <= int(kind) <= 599)
            if not known:
                raise BadInput(f"unknown fault {kind!r}: use a status from 400 to 599, timeout or garbage")
            if not 0 <= rate <= 1:
                raise BadInput(f"fault {kind}: rate {rate:g} is outside [0, 1]")
        if sum(self.rates.values()) > 1 + 1e-9:
            raise BadInput("the rates of the faults sum to more than 1")

    def drawn(self, chance: float) -> str | None:
        """The fault that a number in [0, 1) stands for, or `None`."""
        for kind, rate in self.rates.items():
            if chance < rate:
                return kind
            chance -= rate
        return None


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """How a server behaves.

    Raises:
        BadInput: a value is out of its range.
    """

    key: str | None = field(default=None, repr=False)
    """The one key that is accepted; with `None` any key is, as long as there is one."""
    hosts: tuple[str, ...] = ()
    """Further names that the Host header may give; see `GateOptions`."""
    origins: tuple[str, ...] = ()
    """Origins whose pages may ask; see `GateOptions`."""
    limits: RequestLimits = field(default_factory=RequestLimits)
    """What one client may send."""
    latency_ms: float = 0.0
    """Milliseconds added to every answer."""
    faults: Faults = Faults()
    quota: int | None = None
    """Requests answered before the quota is used up; `None` for no end. Free requests do not count."""
    retry_after_s: int | None = None
    """Seconds told in a `Retry-After` header of answers 429 and 503; `None` sends none, as Google does."""
    seed: int = 0
    """Picks which requests meet a fault."""
    lossless: bool = False
    """Pictures as PNG and all reviews of a place, so that what comes out is what the city holds."""
    page_delay_s: float = 2.0
    """Seconds before a page token of the legacy Places API is valid. Google says "a short delay"; chosen."""
    hang_s: float = 60.0
    """Seconds that a `timeout` fault keeps a client waiting; chosen longer than clients wait."""
    panorama_width: int = 4096
    """Pixels of the widest panorama: one of `WIDTHS`. Chosen for speed; Google's have 16384."""

    def __post_init__(self) -> None:
        if self.panorama_width not in WIDTHS:
            raise BadInput(
                f"panorama width {self.panorama_width}: choose one of {', '.join(map(str, WIDTHS))}"
            )
        if min(self.latency_ms, self.page_delay_s, self.hang_s) < 0:
            raise BadInput("latency and delays must not be negative")
        if self.quota is not None and self.quota < 0:
            raise BadInput(f"quota {self.quota}: must be 0 requests or more")
        _ = self.gate  # is checked when it is made

    @property
    def gate(self) -> GateOptions:
        """Who may ask."""
        return GateOptions(self.key, self.hosts, self.origins, self.limits)

    @property
    def max_zoom(self) -> int:
        """The zoom level at which panoramas are widest."""
        return WIDTHS.index(self.panorama_width)


def parse_faults(text: str) -> Faults:
    """Faults from a text such as `429:0.05,timeout:0.01`.

    Raises:
        BadInput: it is not of that form.
    """
    rates: dict[str, float] = {}
    for part in filter(None, text.replace(" ", "").split(",")):
        kind, _, rate = part.partition(":")
        try:
            rates[kind] = float(rate)
        except ValueError:
            raise BadInput(f"fault {part!r}: write it as kind:rate, such as 429:0.05") from None
    return Faults(MappingProxyType(rates))

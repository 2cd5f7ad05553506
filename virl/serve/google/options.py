"""What can be set about a server: its key, how slow and how faulty it is, and how much it serves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from types import MappingProxyType

from virl.errors import BadInput
from virl.serve.faults import Faults, rates_of
from virl.serve.gate import GateOptions, RequestLimits

ODD = ("indoor", "stale", "closed", "bare", "far", "vague", "unlinked", "tilted")
SERVICES = {
    "map-tiles": "tiles_",
    "street-view-static": "static_",
    "places": "places_",
    "routes": "routes_",
    "geocoding": "geocode",
    "maps-javascript": "js_",
    "legacy": "legacy_",
}
"""Services that a key may be denied: their names, and the beginnings of their endpoints' names."""
WIDTHS = (512, 1024, 2048, 4096, 8192, 16384)
"""Pixels of a whole panorama at zoom levels 0 to 5 of Map Tiles."""


@dataclass(frozen=True, slots=True)
class Oddities:
    """The things that are odd, as some are at Google: the same ones in every request.

    Args:
        rates: by kind the share of things that are odd: panoramas that are `indoor`, or `tilted` as those of
            cars on slopes and of people are; links that are `unlinked`, at both ends; places whose ids are
            `stale`, so that searches list them and details answer that there is none; places that have
            `closed` for good, or are `bare` of hours, prices, ratings and reviews; addresses for which the
            geocoder finds a thing of the same name `far` off, or a `vague` partial match.
        seed: picks which.

    Raises:
        BadInput: an unknown kind, or a rate outside [0, 1].
    """

    rates: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    seed: int = 0

    def __post_init__(self) -> None:
        for kind, rate in self.rates.items():
            if kind not in ODD:
                raise BadInput(f"unknown oddity {kind!r}: use {', '.join(ODD)}")
            if not 0 <= rate <= 1:
                raise BadInput(f"oddity {kind}: rate {rate:g} is outside [0, 1]")

    def has(self, kind: str, what: str) -> bool:
        """Return whether a thing is odd in this way."""
        return self.draw(kind, what) < self.rates.get(kind, 0.0)

    def draw(self, kind: str, what: str) -> float:
        """Return a number in [0, 1) that is always the same for a thing."""
        drawn = blake2b(f"{self.seed} {kind} {what}".encode(), digest_size=8).digest()
        return int.from_bytes(drawn, "big") / 2**64

    def is_linked(self, one: str, other: str) -> bool:
        """Return whether two panoramas that lie next to each other are linked."""
        return not self.has("unlinked", " ".join(sorted((one, other))))


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The options of a server.

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
    """Limits on the requests of one client."""
    latency_ms: float = 0.0
    """Milliseconds added to every answer."""
    faults: Faults = field(default_factory=Faults)
    odd: Oddities = Oddities()
    denied: tuple[str, ...] = ()
    """Services that no key may use, of `SERVICES`."""
    country: str = ""
    """Code of the country that the geocoder names, such as `US`; empty names none."""
    quota: int | None = None
    """Requests answered before the quota is used up; `None` for no end. Free requests do not count."""
    retry_after_s: int | None = None
    """Seconds told in a `Retry-After` header of answers 429 and 503; `None` sends none, as Google does."""
    seed: int = 0
    """Seed for which requests meet a fault."""
    lossless: bool = False
    """Pictures as PNG and all reviews of a place, so that what comes out is what the city holds."""
    fine_types: bool = False
    """A finer type before those of each place in Places (New), for made towns, which have coarse ones."""
    now: Callable[[], datetime] | None = None
    """Clock for what is open and how old reviews are; `None` takes the machine's clock."""
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
        if unknown := [name for name in self.denied if name not in SERVICES]:
            raise BadInput(f"unknown service {unknown[0]!r}: use {', '.join(SERVICES)}")
        _ = self.gate  # is checked when it is made

    @property
    def gate(self) -> GateOptions:
        """The rules on who may ask."""
        return GateOptions(self.key, self.hosts, self.origins, self.limits)

    def denies(self, endpoint: str) -> bool:
        """Return whether an endpoint is of a service that no key may use."""
        return endpoint.startswith(tuple(SERVICES[name] for name in self.denied))

    @property
    def max_zoom(self) -> int:
        """The zoom level at which panoramas are widest."""
        return WIDTHS.index(self.panorama_width)


def parse_oddities(text: str, seed: int = 0) -> Oddities:
    """Read oddities from a text such as `indoor:0.3,stale:0.1`.

    Raises:
        BadInput: it is not of that form.
    """
    return Oddities(rates_of(text, "oddity", "stale:0.1"), seed)

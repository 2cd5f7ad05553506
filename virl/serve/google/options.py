"""Options of the Google-compatible server: key, delay, faults and oddities on purpose, sizes and quota."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from types import MappingProxyType

from virl.errors import BadInput
from virl.serve.faults import Faults, parse_rates
from virl.serve.gate import GateOptions, RequestLimits

ODD = ("indoor", "stale", "closed", "bare", "far", "vague", "unlinked", "tilted")
"""Names of the kinds of oddities, such as "indoor" or "stale", whose shares `Oddities.rates` holds."""
SERVICES = {
    "map-tiles": "tiles_",
    "street-view-static": "static_",
    "places": "places_",
    "routes": "routes_",
    "geocoding": "geocode",
    "maps-javascript": "js_",
    "legacy": "legacy_",
}
"""Names of the services that a key may be denied, each with the beginning of its endpoints' names."""
WIDTHS = (512, 1024, 2048, 4096, 8192, 16384)
"""Widths in pixels of a whole panorama at zoom levels 0 to 5 of Map Tiles."""


@dataclass(frozen=True, slots=True)
class Oddities:
    """Shares of panoramas, links, places and addresses made odd on purpose, as some are at Google.

    Args:
        rates: share in [0, 1] by kind: panoramas that are `indoor`, or `tilted` as those of
            cars on slopes and of people are; links that are `unlinked`, at both ends; places whose ids are
            `stale`, so that searches list them and details answer that there is none; places that have
            `closed` for good, or are `bare` of hours, prices, ratings and reviews; addresses for which the
            geocoder finds a thing of the same name `far` off, or a `vague` partial match.
        seed: seed of the draw, which is by id, not by request.

    Raises:
        BadInput: an unknown kind, or a rate outside [0, 1].
    """

    rates: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    seed: int = 0

    def __post_init__(self) -> None:
        """Raise `BadInput` for unknown kinds and rates outside [0, 1]."""
        for kind, rate in self.rates.items():
            if kind not in ODD:
                raise BadInput(f"unknown oddity {kind!r}: use {', '.join(ODD)}")
            if not 0 <= rate <= 1:
                raise BadInput(f"oddity {kind}: rate {rate:g} is outside [0, 1]")

    def has(self, kind: str, item_id: str) -> bool:
        """Return whether a panorama, place or address is odd in this way, such as "indoor" or "stale"."""
        return self.draw(kind, item_id) < self.rates.get(kind, 0.0)

    def draw(self, kind: str, item_id: str) -> float:
        """Return a number in [0, 1) drawn from the seed, the kind of oddity and an id."""
        drawn = blake2b(f"{self.seed} {kind} {item_id}".encode(), digest_size=8).digest()
        return int.from_bytes(drawn, "big") / 2**64

    def is_linked(self, one: str, other: str) -> bool:
        """Return whether two adjacent panoramas, given by id, keep their links: not drawn as `unlinked`."""
        return not self.has("unlinked", " ".join(sorted((one, other))))


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The options of the Google-compatible server: access, faults, oddities and sizes.

    Raises:
        BadInput: a value is out of its range.
    """

    key: str | None = field(default=None, repr=False)
    """Key that requests have to show; with `None` any key is accepted, as long as there is one."""
    hosts: tuple[str, ...] = ()
    """Further names that the Host header may give; see `GateOptions`."""
    origins: tuple[str, ...] = ()
    """Origins whose pages may send requests; see `GateOptions`."""
    limits: RequestLimits = field(default_factory=RequestLimits)
    """Limits on the size and duration of requests, and on the number of connections."""
    latency_ms: float = 0.0
    """Milliseconds by which each answer is delayed."""
    faults: Faults = field(default_factory=Faults)
    """Shares of requests that are made to fail, by kind of fault."""
    odd: Oddities = Oddities()
    """Shares of panoramas, links, places and addresses that are made odd."""
    denied: tuple[str, ...] = ()
    """Services that no key may use, of `SERVICES`."""
    country: str = ""
    """Country code that the geocoder names, such as `US`; empty if it names none."""
    quota: int | None = None
    """Requests answered before the quota is used up; `None` for no limit. Free requests do not count."""
    retry_after_s: int | None = None
    """Seconds in the `Retry-After` header of answers 429 and 503; `None` sends no header, as Google does."""
    seed: int = 0
    """Seed by which requests that meet a fault are drawn, and key with which session tokens are signed."""
    lossless: bool = False
    """True if pictures are PNG and all reviews of a place are sent, so that no data of the city is lost."""
    fine_types: bool = False
    """True if Places (New) lists a finer type before each place's own types; for made towns."""
    now: Callable[[], datetime] | None = None
    """Clock for opening hours and ages of reviews; `None` takes the machine's clock."""
    page_delay_s: float = 2.0
    """Seconds until a page token of the legacy Places API is valid. Google says "a short delay"; chosen."""
    hang_s: float = 60.0
    """Seconds that a `timeout` fault keeps a client waiting; chosen longer than clients wait."""
    panorama_width: int = 4096
    """Width in pixels of the widest panorama: one of `WIDTHS`. Chosen for speed; Google's have 16384."""

    def __post_init__(self) -> None:
        """Raise `BadInput` for values out of range and unknown services."""
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
        """The rules of the gate in front of the server, made from these options."""
        return GateOptions(self.key, self.hosts, self.origins, self.limits)

    def denies(self, endpoint: str) -> bool:
        """Return whether an endpoint, given by name, belongs to a service in `denied`."""
        return endpoint.startswith(tuple(SERVICES[name] for name in self.denied))

    @property
    def max_zoom(self) -> int:
        """The zoom level, 0 to 5, at which panoramas have their full width."""
        return WIDTHS.index(self.panorama_width)


def parse_oddities(text: str, seed: int = 0) -> Oddities:
    """Parse oddities and their rates from a text "kind:rate,kind:rate"; raise `BadInput` for other forms."""
    return Oddities(parse_rates(text, "oddity", "stale:0.1"), seed)

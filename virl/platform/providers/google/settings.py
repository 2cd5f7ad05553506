"""The settings of the Google provider, `platform/providers/google.yaml`, and its key and secret."""

import base64
import binascii
import hashlib
import hmac
import os
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Literal, Self

import httpx
from pydantic import Field, model_validator

from virl import resources
from virl.errors import BadInput, UnknownName
from virl.platform.providers.http.keys import check_key, key_in_environment
from virl.platform.providers.http.settings import HOST, Retries, Timeouts, checked_host
from virl.redaction import Redaction
from virl.settings.model import Settings, load_settings

BASE_URL_VARIABLE = "VIRL_GOOGLE_BASE_URL"

CacheMode = Literal["off", "session", "ttl"]
Tier = Literal["ids", "essentials", "pro", "enterprise", "atmosphere"]
"""Price classes of the fields of a place, from the cheapest on."""


class GooglePriceSource(Settings):
    """The page from which prices were read."""

    url: str
    """Address of Google's page with the prices."""
    via: str | None = None
    """Address of the page that was read, where it was not Google's own; else `None`."""
    read: date
    """Day on which the page was read."""


class Sku(Settings):
    """A line of Google's price list (stock keeping unit), with prices."""

    title: str
    """Name in Google's price list."""
    usd_per_1000: float | None = Field(ge=0)
    """Price in dollars of a thousand billable events, in the first paid tier; `None` if not known."""
    free_per_month: int | None = Field(default=None, ge=0)
    """Number of events a month that Google gives for free; `None` if not known. No price allows for them."""
    source: str
    """Name in `sources` of the page with the price."""

    @property
    def micro_usd(self) -> int:
        """Price of one event in millionths of a dollar; 0 if it is not known."""
        return round((self.usd_per_1000 or 0.0) * 1000)


class Endpoint(Settings):
    """One method of one of Google's APIs: path, price and limits."""

    service: str
    """Name under which Google's console enables the API."""
    base: str = Field(pattern=r"^https://[^/]+$")
    """Scheme and host of the endpoint's URL."""
    prefix: str = Field(pattern=r"^/")
    """Start of the URL's path; a call's own path is appended."""
    method: Literal["GET", "POST"] = "GET"
    """HTTP method."""
    key_in: Literal["query", "header"] = "query"
    """Place of the key in a request."""
    signed: bool = False
    """True if Google takes URL signatures at this endpoint."""
    sku: str
    """Name of the SKU that a request is billed as; with `tiers` the cheapest."""
    advanced_sku: str | None = None
    """Name of the SKU of routes by traffic, with over ten stops or with reordered stops; `None`: as `sku`."""
    tiers: dict[Tier, str] = Field(default_factory=dict)
    """Name of the SKU of a request whose field mask reaches into a tier, by tier."""
    per: Literal["request", "element"] = "request"
    """Unit that is billed: a request, or each pair of an origin and a destination."""
    keep: Literal["never", "session"] | int = "session"
    """Time that replies may be kept: a number of days, `session`, or `never`."""
    per_minute: int = Field(ge=1)
    """Largest number of billable events a minute."""


class CacheSettings(Settings):
    """The settings of the cache on disk."""

    mode: CacheMode = "ttl"
    """Time that replies are kept: not at all, for the run, or as long as each endpoint allows."""
    session_hours: float = Field(default=24.0, gt=0)
    """Number of hours for which replies are kept for a run."""
    max_mb: float = Field(default=512.0, gt=0)
    """Number of megabytes that the cache is kept below."""


class GoogleSettings(Settings):
    """The settings of Google in `platform/providers/google.yaml`."""

    api: Literal["new", "legacy"] = "new"
    """Generation of Places and Routes that is asked."""
    map_tiles: bool | None = None
    """True if the key may use the Map Tiles API, for tiles and links of panoramas; `None`: ask Google.
    `None` asks Google, free of charge, when that matters first."""
    base_url: str | None = Field(default=None, pattern=HOST)
    """Host that replaces all of Google's, such as `http://127.0.0.1:8765`; paths stay; `None`: Google's."""
    timeouts: Timeouts = Timeouts()
    retries: Retries = Retries()
    concurrency: int = Field(default=8, ge=1, le=256)
    """Largest number of requests at once to one host."""
    max_reply_mb: float = Field(default=32.0, gt=0)
    cache: CacheSettings = CacheSettings()
    sources: dict[str, GooglePriceSource]
    skus: dict[str, Sku]
    field_tiers: dict[Tier, tuple[str, ...]]
    """Names of the fields of a place in each tier; an unnamed field is of the dearest."""
    endpoints: dict[str, Endpoint]

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        """Check that all SKUs and sources that are named exist."""
        every = self.endpoints.values()
        asked = {
            name for one in every for name in (one.sku, one.advanced_sku or one.sku, *one.tiers.values())
        }
        if unknown := asked - self.skus.keys():
            raise ValueError(f"no SKU named {', '.join(sorted(unknown))}")
        if unknown := {sku.source for sku in self.skus.values()} - self.sources.keys():
            raise ValueError(f"no source named {', '.join(sorted(unknown))}")
        return self

    def endpoint(self, name: str) -> Endpoint:
        """Return the endpoint with this name; raise `UnknownName` for an unknown one.

        Raises:
            UnknownName: there is none.
        """
        try:
            return self.endpoints[name]
        except KeyError:
            raise UnknownName("Google endpoint", name, list(self.endpoints)) from None


def load_google_settings(path: Path | None = None) -> GoogleSettings:
    """Load the settings in a file, by default the one that comes with virl; `VIRL_GOOGLE_BASE_URL` overrides.

    Raises:
        BadInput: the file or the variable is broken.
    """
    settings = load_settings(
        path or resources.data_folder("platform/providers") / "google.yaml", GoogleSettings
    )
    return at_base_url(settings, os.environ.get(BASE_URL_VARIABLE) or settings.base_url)


def at_base_url(settings: GoogleSettings, base_url: str | None) -> GoogleSettings:
    """Return the same settings with one scheme and host instead of Google's; with Google's for `None`.

    Raises:
        BadInput: the URL has a path, or is none.
    """
    url = checked_host(base_url, BASE_URL_VARIABLE) if base_url else None
    return settings.model_copy(update={"base_url": url})


KEY_VARIABLE = "GOOGLE_MAPS_API_KEY"
SECRET_VARIABLE = "GOOGLE_MAPS_SIGNING_SECRET"  # noqa: S105  # its name, not the secret
KEY_HEADER = "X-Goog-Api-Key"


@dataclass(frozen=True, slots=True)
class Keys:
    """A Google API key and an optional signing secret; its `repr` shows neither.

    Raises:
        BadInput: the key has characters that no key has, or the secret is not base64.
    """

    key: str = field(repr=False)
    """API key; empty for a replay."""
    secret: str = field(default="", repr=False)
    """Secret for URL signatures in URL-safe base64; empty for none."""
    redaction: Redaction = field(init=False, repr=False, compare=False)
    """Redaction that removes key and secret from replies."""

    def __post_init__(self) -> None:
        """Check the key and the secret, and set their redaction."""
        check_key(self.key, KEY_VARIABLE)
        try:
            base64.urlsafe_b64decode(self.secret)
        except (binascii.Error, ValueError):
            raise BadInput(f"{SECRET_VARIABLE} is not base64: copy it from Google's console again") from None
        object.__setattr__(self, "redaction", Redaction.of((self.key, self.secret)))

    @classmethod
    def from_environment(cls) -> Self | None:
        """Return the key and secret of the environment; `None` without a key."""
        key, secret = key_in_environment(KEY_VARIABLE), key_in_environment(SECRET_VARIABLE)
        return cls(key, secret) if key else None

    def proof(self, request: httpx.Request) -> tuple[httpx.URL, httpx.Headers]:
        """Return (URL, headers) of a request, with the key and signature that its httpx extensions ask for.

        A request says what it needs in its extensions: `google_key` is `"query"`, `"header"` or absent,
        `google_signed` asks for a signature, and `google_tokens` are further fields of the query.
        """
        url, headers = request.url, request.headers.copy()
        url = url.copy_merge_params(request.extensions.get("google_tokens", {}))
        where = request.extensions.get("google_key")
        if where == "header":
            headers[KEY_HEADER] = self.key
        elif where == "query":
            url = url.copy_add_param("key", self.key)
            if self.secret and request.extensions.get("google_signed"):
                url = url.copy_add_param("signature", self.sign(url.raw_path.decode("ascii")))
        return url, headers

    def sign(self, path_and_query: str) -> str:
        """Return Google's signature of a URL's path and query: HMAC-SHA1 in URL-safe base64."""
        secret = base64.urlsafe_b64decode(self.secret)
        digest = hmac.new(secret, path_and_query.encode(), hashlib.sha1).digest()
        return base64.urlsafe_b64encode(digest).decode()

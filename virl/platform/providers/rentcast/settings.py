"""The settings of the RentCast provider: `platform/providers/rentcast.yaml`."""

import os
import re

from pydantic import Field

from virl import resources
from virl.errors import BadInput
from virl.settings import Settings, load_settings

BASE_URL_VARIABLE = "VIRL_RENTCAST_BASE_URL"
_HOST = r"^https?://[^/?#@\s]+$"


class Timeouts(Settings):
    """Seconds that parts of a request may take."""

    connect: float = Field(default=5.0, gt=0)
    read: float = Field(default=20.0, gt=0)
    """Between two pieces of a reply."""


class Retries(Settings):
    """How often and after which pauses a request is tried again."""

    further: int = Field(default=3, ge=0, le=20)
    """Requests after the first."""
    first_wait: float = Field(default=0.5, ge=0)
    """Seconds; doubles with every further try. Half of it is left to chance."""
    longest_wait: float = Field(default=30.0, ge=0)
    """Seconds; a server that asks for more with `Retry-After` is not waited for."""


class RentCastSettings(Settings):
    """`platform/providers/rentcast.yaml`."""

    base_url: str = Field(pattern=_HOST)
    usd_per_request: float = Field(ge=0)
    """Dollars, beyond what the plan includes."""
    page: int = Field(ge=1, le=500)
    """Listings a request."""
    most_pages: int = Field(ge=1)
    """Requests for one district."""
    per_minute: int = Field(ge=1)
    """Most requests a minute."""
    keep_hours: float = Field(ge=0)
    """How long replies are kept on disk; 0 keeps none."""
    timeouts: Timeouts = Timeouts()
    retries: Retries = Retries()


def load_rentcast_settings() -> RentCastSettings:
    """The settings that come with virl; `VIRL_RENTCAST_BASE_URL` overrides the host.

    Raises:
        BadInput: the file or the variable is broken.
    """
    file = resources.data_folder("platform/providers") / "rentcast.yaml"
    settings = load_settings(file, RentCastSettings)
    url = os.environ.get(BASE_URL_VARIABLE, "").rstrip("/")
    if url and not re.match(_HOST, url):
        raise BadInput(
            f"{BASE_URL_VARIABLE}: {url!r} should be a scheme and a host such as http://127.0.0.1:8765"
        )
    return settings.model_copy(update={"base_url": url}) if url else settings

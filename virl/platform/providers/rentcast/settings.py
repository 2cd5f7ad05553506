"""The settings of the RentCast provider: `platform/providers/rentcast.yaml`."""

import os

from pydantic import Field

from virl import resources
from virl.platform.providers.http.settings import HOST, Retries, Timeouts, checked_host
from virl.settings.model import Settings, load_settings

BASE_URL_VARIABLE = "VIRL_RENTCAST_BASE_URL"


class RentCastSettings(Settings):
    """The settings in `platform/providers/rentcast.yaml`."""

    base_url: str = Field(pattern=HOST)
    usd_per_request: float | None = Field(ge=0)
    """Price in dollars of a request beyond the plan's; `null` if it is not known."""
    page: int = Field(ge=1, le=500)
    """Number of listings in a request."""
    most_pages: int = Field(ge=1)
    """Largest number of requests for one district."""
    per_minute: int = Field(ge=1)
    """Largest number of requests a minute."""
    keep_hours: float = Field(ge=0)
    """Number of hours that replies are kept on disk; 0 keeps none."""
    timeouts: Timeouts = Timeouts()
    retries: Retries = Retries(further=3)


def load_rentcast_settings() -> RentCastSettings:
    """Return RentCast's settings; `VIRL_RENTCAST_BASE_URL` overrides the host.

    Raises:
        BadInput: the file or the variable is broken.
    """
    file = resources.data_folder("platform/providers") / "rentcast.yaml"
    settings = load_settings(file, RentCastSettings)
    url = os.environ.get(BASE_URL_VARIABLE)
    return settings.model_copy(update={"base_url": checked_host(url, BASE_URL_VARIABLE)}) if url else settings

"""The settings of the services of open data: `platform/providers/open.yaml`."""

import os
from datetime import date

from pydantic import Field

from virl import resources
from virl.platform.providers.http.settings import HOST, Retries, Timeouts, checked_host
from virl.settings.model import Settings, load_settings

VARIABLES = {"panoramax": "VIRL_PANORAMAX_URL", "mapillary": "VIRL_MAPILLARY_URL"}
"""Environment variables that name another server, by service."""


class ServiceSettings(Settings):
    """How one service is asked."""

    title: str
    base_url: str = Field(pattern=HOST)
    per_minute: int = Field(ge=1)
    """Most requests a minute."""
    concurrency: int = Field(default=4, ge=1, le=64)
    """Most requests at once."""
    page: int = Field(ge=1, le=10_000)
    """Most pictures that are asked for at once; a reply with as many is split into four boxes."""
    keep_days: float = Field(gt=0)
    """How long it is kept which pictures there are; then they are asked for again."""
    timeouts: Timeouts = Timeouts(read=60.0, total=180.0)
    retries: Retries = Retries()


class Licence(Settings):
    """Terms of a picture."""

    title: str
    url: str
    keep: bool
    """Whether the picture may be kept on disk for good, and passed on with its author and licence."""


class Read(Settings):
    """Where terms were read."""

    url: str
    read: date


class OpenSettings(Settings):
    """`platform/providers/open.yaml`."""

    services: dict[str, ServiceSettings]
    licences: dict[str, Licence]
    """By SPDX identifier."""
    sources: tuple[Read, ...]

    def licence(self, name: str) -> Licence | None:
        """The terms of a licence, its name in any case; `None` if they are not known."""
        known = {one.casefold(): licence for one, licence in self.licences.items()}
        return known.get(name.casefold())

    def may_keep(self, author: str, licence: str) -> bool:
        """Whether a picture may be kept and passed on: it names its author, and a licence that allows it."""
        terms = self.licence(licence)
        return bool(author.strip()) and terms is not None and terms.keep


def load_open_settings() -> OpenSettings:
    """The settings that come with virl.

    Raises:
        BadInput: the file is broken.
    """
    return load_settings(resources.data_folder("platform/providers") / "open.yaml", OpenSettings)


def service_settings(settings: OpenSettings, service: str, url: str | None = None) -> ServiceSettings:
    """How a service is asked, at the server of the environment, of a city's file or of the settings.

    Args:
        settings: of all services.
        service: its name in them.
        url: of a city's file.

    Raises:
        BadInput: the variable holds no host.
    """
    variable = VARIABLES[service]
    given = os.environ.get(variable, "").strip() or url
    own = settings.services[service]
    return own.model_copy(update={"base_url": checked_host(given, variable)}) if given else own

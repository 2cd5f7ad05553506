"""Providers by name, and the city files that they check."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict

from virl.errors import UnknownName
from virl.platform.providers.city_file import CityFile
from virl.platform.providers.provider import Provider
from virl.registry import Registry, scan
from virl.settings.model import Settings, load_settings

PROVIDERS: Registry[Provider[Any]] = Registry(
    kind="provider",
    group="virl.providers",
    expected=Provider,
    builtin=partial(scan, "virl.platform.providers", "provider", "PROVIDER"),
)
"""virl's own providers and those of other packages, by name."""


def _check_provider(name: str) -> str:
    """Return the name of a provider, checked to exist."""
    if name not in PROVIDERS:
        raise ValueError(str(UnknownName("provider", name, PROVIDERS.names())))
    return name


class _Named(Settings):
    """The provider's name in a city file; read before the other fields."""

    model_config = ConfigDict(extra="ignore")

    provider: Annotated[str, AfterValidator(_check_provider)]


def read_city(file: Path) -> CityFile:
    """Return the settings in a city's file, checked by its provider.

    Raises:
        BadInput: the file is broken, or names no provider that there is.
        ModelUnavailable: its provider comes with a package that cannot be imported.
    """
    checked: CityFile = load_settings(file, PROVIDERS.find(load_settings(file, _Named).provider).file)
    return checked


def provider_of(city: CityFile) -> Provider[Any]:
    """Return the provider that makes a city.

    Raises:
        ModelUnavailable: as `read_city`.
    """
    return PROVIDERS.find(city.provider)

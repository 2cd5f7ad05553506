"""Providers: each gives a city its street view, places, maps and listings."""

from virl.platform.providers.open import city_names, open_city

__all__ = ["city_names", "open_city"]

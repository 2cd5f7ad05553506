"""Providers: each gives a city its street view, places, maps and listings."""

from virl.platform.providers.cities import city_names, open_city

__all__ = ["city_names", "open_city"]

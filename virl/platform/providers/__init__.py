"""Providers: each gives a city its street view, places, maps and listings."""

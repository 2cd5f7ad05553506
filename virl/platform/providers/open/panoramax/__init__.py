"""Panoramax: street-level pictures over its STAC API, without a key."""

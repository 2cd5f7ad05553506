"""Reads parameters of requests."""

import math
import re
from collections.abc import Mapping
from typing import Any

from virl.geo import LatLng
from virl.serve.google.wire import Json, invalid


def number(text: str, name: str, low: float, high: float) -> float:
    """A number from a parameter.

    Raises:
        Refused: it is none, or outside [low, high].
    """
    try:
        value = float(text) if text.isascii() else math.nan
    except ValueError:
        value = math.nan
    if not low <= value <= high:
        raise invalid(
            f"Invalid request. Invalid '{name}' parameter: it must be between {low:g} and {high:g}."
        )
    return value


def optional_number(query: Mapping[str, str], name: str, low: float, high: float, default: float) -> float:
    """A number from a parameter that may be left out."""
    return number(query[name], name, low, high) if query.get(name) else default


def position_in(text: str) -> LatLng | None:
    """The position that a text such as `41.25,-38.75` names, or `None` if it is an address."""
    found = re.fullmatch(
        r"\s*(-?\d+(?:\.\d*)?(?:e-?\d+)?)\s*,\s*(-?\d+(?:\.\d*)?(?:e-?\d+)?)\s*", text, re.ASCII
    )
    if not found:
        return None
    return LatLng(number(found[1], "lat", -90, 90), number(found[2], "lng", -180, 180))


def position(text: str, name: str = "location") -> LatLng:
    """A position from a parameter.

    Raises:
        Refused: it is none.
    """
    found = position_in(text)
    if found is None:
        raise invalid(f"Invalid request. Invalid '{name}' parameter.")
    return found


def lat_lng(message: Any, name: str, lat: str = "latitude", lng: str = "longitude") -> LatLng:
    """A position from a message such as `{"latitude": 1, "longitude": 2}`; a field left out is 0.

    Raises:
        Refused: it is no such message.
    """
    if not isinstance(message, dict):
        raise invalid(f"Invalid value at '{name}': a position is missing.")
    values = [message.get(lat, 0.0), message.get(lng, 0.0)]
    if not all(isinstance(value, int | float) for value in values):
        raise invalid(f"Invalid value at '{name}': {lat} and {lng} must be numbers.")
    return LatLng(
        number(str(values[0]), f"{name}.{lat}", -90, 90), number(str(values[1]), f"{name}.{lng}", -180, 180)
    )


def message_in(body: Json, name: str) -> Json:
    """A message inside a message; empty where it is left out.

    Raises:
        Refused: the field holds something else.
    """
    found = body.get(name, {})
    if not isinstance(found, dict):
        raise invalid(f"Invalid value at '{name}': it must be a message.")
    return found


def texts_in(body: Json, name: str, most: int) -> list[str]:
    """A list of texts inside a message; empty where it is left out.

    Raises:
        Refused: the field holds something else, or too many.
    """
    found = body.get(name, [])
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise invalid(f"Invalid value at '{name}': it must be a list of texts.")
    if len(found) > most:
        raise invalid(f"Invalid value at '{name}': at most {most} are allowed.")
    return found

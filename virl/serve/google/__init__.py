"""A server that speaks the wire formats of Google Maps Platform over a city."""

from virl.serve.faults import Faults, parse_faults
from virl.serve.google.options import Oddities, ServeOptions, parse_oddities

__all__ = ["Faults", "Oddities", "ServeOptions", "parse_faults", "parse_oddities"]

"""A server that speaks the wire formats of Google Maps Platform over a city."""

from virl.serve.google.options import Faults, ServeOptions, parse_faults

__all__ = ["Faults", "ServeOptions", "parse_faults"]

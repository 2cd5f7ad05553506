"""Virlton: a city made from a seed, rendered on demand, with exact ground truth."""

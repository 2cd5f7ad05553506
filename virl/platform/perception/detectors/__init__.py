"""Detectors that find what they are asked for in words."""

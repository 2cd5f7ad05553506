"""Detectors that find objects in views by labels in words."""

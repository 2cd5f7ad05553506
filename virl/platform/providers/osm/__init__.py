"""Twins: real towns rebuilt from OpenStreetMap extracts."""

"""Positions on the globe and regions of it."""

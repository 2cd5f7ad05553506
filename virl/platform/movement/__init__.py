"""Movers and navigators."""

"""Matchers: points that two pictures have in common."""

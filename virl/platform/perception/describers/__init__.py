"""Describers: what a view shows, in words."""

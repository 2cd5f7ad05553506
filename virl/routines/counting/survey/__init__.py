"""Counting all over a region by sending the counting agent: what Imani does."""

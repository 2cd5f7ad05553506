"""Exploring until a place fulfils an intention: what Hiro does."""

"""Minds: what answers a prompt with a typed reply."""

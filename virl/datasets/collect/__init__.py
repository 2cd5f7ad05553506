"""Collects what the per-city benchmarks ask about, into a folder that can be moved."""

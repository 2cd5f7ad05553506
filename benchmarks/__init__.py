"""Benchmarks: one file each, with shared metrics."""

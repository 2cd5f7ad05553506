"""Metrics shared by the benchmarks: pure functions. Formulas and sources are in `docs/metrics.md`."""

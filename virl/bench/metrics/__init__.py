"""Metrics shared by the benchmarks: pure functions. Formulas and sources are in `docs/reference/metrics.md`."""

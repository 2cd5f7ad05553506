"""Metrics shared by the benchmarks, pure functions; formulas and sources: `docs/reference/metrics.md`."""

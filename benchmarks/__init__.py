"""The benchmarks that come with virl, a package each, and `perf`, which measures speed."""

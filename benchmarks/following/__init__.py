"""What the benchmarks of instruction following share: walks, their records, results and page."""

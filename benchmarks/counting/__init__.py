"""How well things along routes and in regions are counted; described in `docs/counting-benchmark.md`."""

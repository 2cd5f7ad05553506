"""The engine under the benchmarks: episodes run side by side, resumed, retried, sharded, scored and drawn.

A benchmark is a `virl.bench.benchmark.Benchmark`, registered by the entry-point group `virl.benchmarks`.
`docs/how-to/benchmarks.md` says how to run one, `docs/how-to/extending.md` how to write one.
"""

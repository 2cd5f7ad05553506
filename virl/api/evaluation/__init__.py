"""Benchmarks of virl as tasks of Inspect (https://inspect.aisi.org.uk), by the extra `inspect`."""

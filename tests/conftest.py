"""What every test runs under."""

import functools
import gc
import ssl

# Each HTTP client builds a TLS context, which parses the machine's whole list of authorities.
ssl.create_default_context = functools.cache(ssl.create_default_context)


def pytest_collection_finish() -> None:
    """Leave what was imported out of every garbage collection: none of it is garbage."""
    gc.collect()
    gc.freeze()

"""What every test runs under."""

import functools
import gc
import ssl

# Each HTTP client builds a TLS context, which parses the machine's whole list of authorities.
ssl.create_default_context = functools.cache(ssl.create_default_context)

# Everything that the tests import stays; to look through it as often as usual takes a tenth of the time.
gc.set_threshold(50_000, 20, 20)

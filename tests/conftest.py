"""What every test runs under."""

import functools
import gc
import ssl

# Each HTTP client builds a TLS context, which parses the machine's whole list of authorities.
ssl.create_default_context = functools.cache(ssl.create_default_context)

# What the tests import stays for good: it is looked through less often than usual.
gc.set_threshold(50_000, 20, 20)

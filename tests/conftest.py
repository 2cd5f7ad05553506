"""What every test runs under."""

import functools
import ssl

# Each HTTP client builds a TLS context, which parses the machine's whole list of authorities.
ssl.create_default_context = functools.cache(ssl.create_default_context)

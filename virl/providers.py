"""Cities by their files, and single requests to Google."""

from virl.money.ledger import Ledger
from virl.platform.providers.cities import all_cities, city_settings
from virl.platform.providers.google.city import open_google
from virl.platform.providers.google.city_file import GoogleOptions
from virl.platform.providers.google.client import Call, open_google_http
from virl.platform.providers.provider import Access

__all__ = [
    "Access",
    "Call",
    "GoogleOptions",
    "Ledger",
    "all_cities",
    "city_settings",
    "open_google",
    "open_google_http",
]

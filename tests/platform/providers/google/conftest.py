"""A made city behind Google's formats, asked through either generation of its services."""

from collections.abc import Iterator

import pytest
from served_google import Google, google_over

from virl.platform.city.city import City
from virl.platform.providers.google.city_file import GoogleOptions

NEW = GoogleOptions(api="new")
OLD = GoogleOptions(api="legacy", page_wait=0.0)


@pytest.fixture(scope="module")
def google(virlton: City) -> Iterator[Google]:
    with google_over(virlton) as google:
        yield google


@pytest.fixture(params=["new", "legacy"])
def api(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def fresh(google: Google, api: str) -> Google:
    """A client that remembers nothing, and a server that has counted nothing."""
    google.server.reset()
    google.http.ledger.take()
    return google.reopened(NEW if api == "new" else OLD)

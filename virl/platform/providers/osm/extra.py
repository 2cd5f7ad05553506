"""The extra `osm`, without which no extract can be read."""

from collections.abc import Iterator
from contextlib import contextmanager

from virl.errors import ModelUnavailable


@contextmanager
def needing_osm(what: str) -> Iterator[None]:
    """Name the extra where a package of it is missing.

    Args:
        what: what needs it, such as `"reading an extract"`.

    Raises:
        ModelUnavailable: in place of a missing package.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        raise ModelUnavailable(f"{what} needs {missing.name}: pip install 'virl[osm]'") from missing

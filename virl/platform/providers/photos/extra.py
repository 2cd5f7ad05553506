"""The extra `photos`, without which no photograph can be imported."""

from importlib.util import find_spec

from virl.errors import ModelUnavailable

PACKAGES = ("defusedxml", "gpxpy")


def require_extra() -> None:
    """Check that the packages of the extra are there.

    Raises:
        ModelUnavailable: one is not.
    """
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise ModelUnavailable(
            f"importing photographs needs {' and '.join(missing)}: pip install 'virl[photos]'"
        )

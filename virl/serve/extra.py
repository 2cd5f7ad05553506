"""The extra that serving needs."""

from importlib.util import find_spec

from virl.errors import VirlError

PACKAGES = ("fastapi", "uvicorn")


def require_extra() -> None:
    """Check that the packages of the extra `serve` are there.

    Raises:
        VirlError: one is not.
    """
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise VirlError(f"serving needs {' and '.join(missing)}: run pip install 'virl[serve]'")

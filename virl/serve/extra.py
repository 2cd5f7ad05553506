"""The extra that serving needs."""

from importlib.util import find_spec

from virl.errors import VirlError

PACKAGES = {"serve": ("fastapi", "uvicorn"), "mcp": ("mcp", "h11", "uvicorn")}


def require_extra(extra: str = "serve") -> None:
    """Check that the packages of an extra are there.

    Raises:
        VirlError: one is not.
    """
    missing = [name for name in PACKAGES[extra] if find_spec(name) is None]
    if missing:
        raise VirlError(f"serving needs {' and '.join(missing)}: run pip install 'virl[{extra}]'")

"""The version of virl."""

from functools import cache
from hashlib import sha256
from pathlib import Path

__version__ = "0.2.0"


@cache
def code_version() -> str:
    """Return the version with a digest of virl's Python files, such as `0.1.0+5d41402abc`."""
    home, digest = Path(__file__).parent, sha256()
    # Of all files, so that runs by a changed checkout are told apart.
    for file in sorted(home.rglob("*.py")):
        digest.update(file.relative_to(home).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return f"{__version__}+{digest.hexdigest()[:10]}"

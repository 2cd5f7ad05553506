"""Where the data folders are: at the root of a checkout, inside the package in a wheel."""

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent


@cache
def data_root() -> Path:
    """The folder that holds `agents/`, `prompts/` and `platform/`."""
    bundled = _PACKAGE / "bundled"
    return bundled if bundled.is_dir() else _PACKAGE.parent


def data_folder(name: str) -> Path:
    """A data folder such as `"prompts"` or `"platform/cities"`."""
    return data_root() / name


def names_in(folder: str, suffix: str) -> list[str]:
    """The stems of the files with this suffix in a data folder, sorted."""
    return sorted(path.stem for path in data_folder(folder).glob(f"*{suffix}"))

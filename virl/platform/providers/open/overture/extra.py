"""The extra `overture`, without which no file of Overture can be read."""

from pathlib import Path
from typing import TYPE_CHECKING

from virl.errors import ModelUnavailable

if TYPE_CHECKING:
    from virl.platform.providers.open.overture.source import OverturePlaces


def opened_overture(files: Path) -> "OverturePlaces":
    """The places of a file of Overture, or of a folder of them.

    Raises:
        ModelUnavailable: the extra is not installed.
        BadInput: there is no such file, or it is not one of Overture's places.
    """
    try:
        from virl.platform.providers.open.overture.source import OverturePlaces  # noqa: PLC0415 - as above
    except ModuleNotFoundError as missing:
        raise ModelUnavailable(
            f"{files}: reading it needs {missing.name}: pip install 'virl[overture]'"
        ) from missing
    return OverturePlaces(files)

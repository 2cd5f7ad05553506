"""Whom pages about a data set have to name: what the manifest of an export says."""

from pathlib import Path

from virl.errors import BadInput
from virl.files.json_reading import JsonFault, read_json

MANIFEST = "export.json"
"""Name of the manifest of an export."""


def attribution_of(folder: Path) -> str:
    """Return the names that pages about an export have to credit; empty for nobody.

    Raises:
        BadInput: the manifest is damaged.
    """
    manifest = folder / MANIFEST
    try:
        told = read_json(manifest.read_bytes())
    except FileNotFoundError:
        return ""
    except (OSError, JsonFault):
        told = None
    if not isinstance(told, dict):
        raise BadInput(f"{manifest}: is damaged: export the city again with `virl data export`")
    return " ".join(str(told.get("attribution", "")).split())

"""What the writers of exports share: their manifest, and files that come out the same each time."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from virl.errors import BadInput
from virl.files.json_reading import JsonFault, read_json
from virl.files.writing import is_partial, replace_file
from virl.platform.providers.graph.city import MANIFEST
from virl.platform.providers.planned import ExportSource
from virl.version import __version__

FORMAT_VERSION = 1  # one more whenever the same city and seed would give other files
"""Version of the format of the export's manifest."""
README = "README.md"


def refuse_other_files(folder: Path, kind: str) -> None:
    """Refuse a folder that holds files other than an earlier export of the same format.

    Args:
        folder: where an export is to go.
        kind: its format, such as `"touchdown"`.

    Raises:
        BadInput: the folder holds something, and no earlier export of this format. What a killed process left
            half written is nothing.
    """
    taken = folder.is_file() or (folder.is_dir() and not all(map(is_partial, folder.iterdir())))
    if taken and _kind(folder / MANIFEST) != kind:
        raise BadInput(f"{folder}: contains something other than a {kind} export: choose a new folder")


def begin(folder: Path, kind: str) -> None:
    """Mark a folder as an unfinished export, which the next run makes again.

    Raises:
        CannotWrite: the disk refuses.
    """
    write_json(folder / MANIFEST, {"format": kind, "unfinished": True}, indent=1)


def told_source(source: ExportSource, kind: str, layout: str) -> dict[str, object]:
    """Return the fields of the source with which every manifest begins.

    Args:
        source: what the export is made from.
        kind: its format, such as `"touchdown"`.
        layout: whose layout that is, such as `"R2R, not its"`.
    """
    told: dict[str, object] = {
        "about": f"Made by virl from the city {source.city!r}: the layout of {layout} data.",
        "format": kind,
        "format_version": FORMAT_VERSION,
        "virl": __version__,
        "city": source.city,
    }
    if source.attribution:
        told |= {"attribution": source.attribution, "licence": source.licence}
    return told


def finish(folder: Path, source: ExportSource, manifest: Mapping[str, object]) -> None:
    """Write the manifest and the notice on the data's source, which complete the export.

    Args:
        folder: of the export.
        source: where the data come from.
        manifest: the export's facts.

    Raises:
        CannotWrite: the disk refuses.
    """
    if source.attribution:
        write_lines(folder / README, _notice(source, manifest))
    else:
        (folder / README).unlink(missing_ok=True)  # of an earlier export into this folder
    write_json(folder / MANIFEST, manifest, indent=1)


def _notice(source: ExportSource, manifest: Mapping[str, object]) -> list[str]:
    """Return the lines of the notice on a town of OpenStreetMap."""
    return [
        f"# {source.name}, exported by virl",
        "",
        f"{manifest['about']}",
        "Streets and names are real. The instructions come from templates; nobody walked these paths.",
        "",
        f"{source.attribution}: <https://www.openstreetmap.org/copyright>",
        "",
        f"Licence of the data: {source.licence}.",
        "This folder is a database derived from OpenStreetMap. If you publish it, or a changed copy of it,",
        "publish it under the same licence and keep this notice.",
    ]


def is_finished(folder: Path) -> bool:
    """Return whether a folder holds a complete export."""
    try:
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and not found.get("unfinished")


def write_json(file: Path, value: object, indent: int | None = None) -> None:
    """Write one JSON value to a file.

    Args:
        file: to write.
        value: plain data.
        indent: spaces a level; `None` for one line.

    Raises:
        CannotWrite: the disk refuses.
    """
    write_lines(file, [json_line(value, indent)])


def write_lines(file: Path, lines: Iterable[str]) -> None:
    """Write lines of text, each ended by a newline; makes the folder.

    Raises:
        CannotWrite: the disk refuses.
    """
    with replace_file(file, "export again") as out:
        out.writelines(f"{line}\n".encode() for line in lines)


def json_line(value: object, indent: int | None = None) -> str:
    """Return a value as JSON with non-ASCII letters kept."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _kind(manifest: Path) -> str | None:
    """Return the kind of export in a manifest; `None` if it is missing or broken."""
    try:
        found = read_json(manifest.read_bytes())
    except (OSError, JsonFault):
        return None
    return str(found.get("format")) if isinstance(found, dict) else None

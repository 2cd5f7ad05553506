"""What the writers of exports share: their manifest, and files that come out the same each time."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from virl.errors import BadInput
from virl.files.json_reading import JsonFault, read_json
from virl.files.writing import is_partial, replace_file
from virl.platform.providers.graph.city import MANIFEST
from virl.platform.providers.planned import ExportSource
from virl.version import __version__

FORMAT_VERSION = 1
"""Version of the exports' files; one more whenever the same city and seed would give other files."""
README = "README.md"


def refuse_other_files(folder: Path, kind: str) -> None:
    """Raise BadInput if a folder holds anything but an earlier export of the format `kind`.

    Raises:
        BadInput: the folder holds something, and no earlier export of this format. What a killed process left
            half written is nothing.
    """
    taken = folder.is_file() or (folder.is_dir() and not all(map(is_partial, folder.iterdir())))
    if taken and (_read_manifest(folder) or {}).get("format") != kind:
        raise BadInput(f"{folder}: contains something other than a {kind} export: choose a new folder")


@contextmanager
def exporting(folder: Path, source: ExportSource, kind: str, layout: str) -> Iterator[dict[str, object]]:
    """Mark a folder as an unfinished export, yield its manifest to add facts to, and write that at the end.

    If the block fails, the export stays unfinished, and the next run makes it again. Real data also get a
    notice on their source.

    Args:
        folder: of the export.
        source: what the export is made from.
        kind: its format, such as `"touchdown"`.
        layout: whose layout that is, such as `"R2R, not its"`.

    Raises:
        CannotWrite: the disk refuses.
    """
    write_json(folder / MANIFEST, {"format": kind, "unfinished": True}, indent=1)
    manifest: dict[str, object] = {
        "about": f"Made by virl from the city {source.city!r}: the layout of {layout} data.",
        "format": kind,
        "format_version": FORMAT_VERSION,
        "virl": __version__,
        "city": source.city,
    }
    if source.attribution:
        manifest |= {"attribution": source.attribution, "licence": source.licence}
    yield manifest
    if source.attribution:
        write_lines(folder / README, _notice(source, manifest))
    else:
        (folder / README).unlink(missing_ok=True)  # of an earlier export into this folder
    write_json(folder / MANIFEST, manifest, indent=1)


def _notice(source: ExportSource, manifest: Mapping[str, object]) -> list[str]:
    """Return the lines of the notice on data from OpenStreetMap, with its licence."""
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
    manifest = _read_manifest(folder)
    return manifest is not None and not manifest.get("unfinished")


def write_json(file: Path, value: object, indent: int | None = None) -> None:
    """Write a value to a file as JSON, with `indent` spaces a level, or on one line if that is `None`.

    Args:
        file: to write.
        value: plain data.
        indent: spaces a level; `None` for one line.

    Raises:
        CannotWrite: the disk refuses.
    """
    write_lines(file, [json_line(value, indent)])


def write_lines(file: Path, lines: Iterable[str]) -> None:
    """Write lines of text as UTF-8, each ended by a newline; makes the file's folder.

    Raises:
        CannotWrite: the disk refuses.
    """
    with replace_file(file, "export again") as out:
        out.writelines(f"{line}\n".encode() for line in lines)


def json_line(value: object, indent: int | None = None) -> str:
    """Return a value as JSON, non-ASCII letters kept, with `indent` spaces a level or on one line."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _read_manifest(folder: Path) -> dict[str, object] | None:
    """Return the manifest of the export in a folder; `None` if it is missing or broken."""
    try:
        found = read_json((folder / MANIFEST).read_bytes())
    except (OSError, JsonFault):
        return None
    return found if isinstance(found, dict) else None

"""The folders of episodes, and the pictures in them, in the folder of a run."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from virl.bench.episode import Episode
from virl.errors import BadInput
from virl.files.writing import replace_file

FOLDER = "episodes"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,80}")


def slug(identity: str) -> str:
    """Return a folder's name for an episode: readable, safe on any disk, and different for different ids."""
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", identity).strip("-.")[-60:]
    return f"{readable}-{hashlib.sha256(identity.encode()).hexdigest()[:10]}"


def keep_files(folder: Path, episode: Episode, files: Mapping[str, bytes]) -> tuple[str, ...]:
    """Write an episode's pictures below the folder of its run.

    Args:
        folder: of the run.
        episode: names their folder.
        files: contents by file name.

    Returns:
        Their paths, relative to the folder, in the order of `files`.

    Raises:
        BadInput: a name is no plain file name.
        CannotWrite: the disk refuses.
    """
    if not files:
        return ()
    home = Path(FOLDER) / slug(episode.id)
    for name in files:
        if not _NAME.fullmatch(name):
            raise BadInput(f"{episode.id}: {name!r} is not a plain file name")
    for name, content in files.items():
        with replace_file(folder / home / name, "go on with --resume") as file:
            file.write(content)
    return tuple((home / name).as_posix() for name in files)

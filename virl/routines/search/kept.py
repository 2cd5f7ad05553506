"""The signs that a search has read, kept in its folder: a run that goes on reads no view twice."""

from collections import UserDict
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from virl.files import JsonLines
from virl.platform.movement.sight.looking import KnownSign
from virl.platform.streetview import Camera

SIGNS = "signs.jsonl"
"""Name of the file."""


@dataclass(frozen=True, slots=True)
class _ReadView:
    pano_id: str
    camera: Camera
    signs: tuple[KnownSign, ...]


_LINE = TypeAdapter(_ReadView)


class KeptSigns(UserDict[tuple[str, Camera], tuple[KnownSign, ...]]):
    """What was read through each camera; what is added is on the disk when it is there.

    Args:
        folder: of the run.

    Raises:
        BadInput: the file is damaged.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._file = JsonLines(folder / SIGNS, "resume the run", sync=False)
        for line in self._file.read(
            _LINE.validate_json, mend=": delete the file, and its views are read anew"
        ):
            self.data[line.pano_id, line.camera] = line.signs

    def __setitem__(self, key: tuple[str, Camera], signs: tuple[KnownSign, ...]) -> None:
        super().__setitem__(key, signs)
        self._file.append(_LINE.dump_json(_ReadView(*key, signs)).decode())

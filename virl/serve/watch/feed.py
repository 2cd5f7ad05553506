"""The runs that a page shows: what is told of each so far, and its pictures."""

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from virl.agent.control import Control
from virl.errors import JournalBroken
from virl.files import is_inside
from virl.geo import LatLng
from virl.journal.journal import JOURNAL
from virl.journal.records import NoteRecord, StepRecord
from virl.journal.tail import JournalTail
from virl.plain_text import plain_tree
from virl.serve.watch.telling import Streets, Teller

_JPEG = b"\xff\xd8\xff"


class RunFeed:
    """A run that is shown: in its folder, where it may still go on.

    Args:
        folder: the run's; its journal may be written by another process.
        streets: of its city.
        control: of a run that goes on in this process; its journal may still be missing.
    """

    def __init__(self, folder: Path, streets: Streets, control: Control | None = None) -> None:
        self.folder = folder
        self.control = control
        self.fault = ""
        """Why no more of it can be read; empty if it can."""
        self._tail = JournalTail(folder)
        self._teller = Teller(streets)
        self._told: list[dict[str, Any]] = []
        self._files: list[tuple[str, ...]] = []
        self._lock = Lock()

    @property
    def ended(self) -> bool:
        """Whether all of the run is told."""
        return self._tail.ended

    def told(self, after: int = 0) -> Sequence[dict[str, Any]]:
        """What is told of the run, but for its first records; what was written since is read now."""
        with self._lock:
            try:
                for record in self._tail.more() if self._may_grow() else ():
                    self._told.append(self._teller.tell(record))
                    views = record.views if isinstance(record, StepRecord | NoteRecord) else ()
                    self._files.append(tuple(view.file for view in views))
            except JournalBroken as fault:
                self.fault = str(fault)
            return self._told[after:]

    def _may_grow(self) -> bool:
        if self.fault or self._tail.ended:
            return False
        return self.control is None or (self.folder / JOURNAL).exists()

    def state(self) -> dict[str, Any]:
        """How the run stands, beside what is told of it."""
        if self.control is None:
            return {"fault": self.fault, "control": None}
        standing = self.control.standing()
        pose = standing.pose
        at = self._teller.place(LatLng(pose.lat, pose.lng)) if pose else None
        return {"fault": self.fault, "control": plain_tree(standing.model_dump() | {"at": at})}

    def files(self) -> dict[str, str]:
        """All views told so far, by the number of their record and theirs in it, such as `12/0`."""
        return {
            f"{seq}/{number}": file
            for seq, files in enumerate(self._files)
            for number, file in enumerate(files)
        }

    def picture(self, seq: int, number: int) -> bytes | None:
        """A view that the journal names, as JPEG; `None` if there is none.

        Args:
            seq: number of its record, from 0.
            number: of the view in the record, from 0.
        """
        if not 0 <= seq < len(self._files) or not 0 <= number < len(self._files[seq]):
            return None
        name = self._files[seq][number]
        if not is_inside(self.folder, name):
            return None
        try:
            data = (self.folder / name).read_bytes()
        except OSError:
            return None
        return data if data.startswith(_JPEG) else None

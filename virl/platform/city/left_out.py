"""Counts of items and fields that were left out of replies and files, and of places out of reach."""

import logging
import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

from pydantic import TypeAdapter

from virl.files.writing import JsonLines

LEFT_OUT = "left_out.jsonl"
"""Name of the file in a run's folder with items and fields not read, and places not reached."""
MOST_REASONS = 10
"""Largest number of reasons kept for each source (chosen: as many as fit a short list)."""

_Part = tuple[str, str, int, int]
"""(source, reason, checksum, number from 1 among equals in one reply) of an item or field left out."""
_PART: TypeAdapter[_Part] = TypeAdapter(_Part)
"""Reader and writer of a line of the file `LEFT_OUT`."""
_WARNING = "%s: some is left out and counted, first %s"
"""Format of the warning about the first item or field left out of a source: source, then reason."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Omission:
    """The number of items and fields of one source that were left out, with the first reasons."""

    source: str
    """The service or file, such as `"Places API (New): places_nearby"`."""
    count: int
    """Number of items and fields left out, each counted once however often it was read."""
    reasons: tuple[str, ...]
    """First reasons why parts were left out, at most `MOST_REASONS`."""


@dataclass(slots=True, eq=False)
class LeftOut:
    """Thread-safe counts of a city's items and fields not read, and of places to which no way leads."""

    is_told: bool = True
    """True to log a warning for the first item or field left out of each source."""
    _counts: Counter[str] = field(default_factory=Counter)
    """Number of items and fields left out, by source."""
    _reasons: dict[str, list[str]] = field(default_factory=dict)
    """First reasons, at most `MOST_REASONS`, by source."""
    _known: dict[_Part, None] = field(default_factory=dict)
    """Items and fields that were counted already, as the keys of a dict in their order."""
    _kept: JsonLines | None = None
    """File to which each counted item or field is written; `None` for no file."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    """Lock that guards the counts."""

    def add(self, source: str, reason: str, part: object = None, nth: int = 1) -> None:
        """Count a `part` that cannot be read, unless counted before; `nth`, from 1, tells equal parts apart.

        Args:
            source: name of the service or file.
            reason: description of the item or field, and why it cannot be read.
            part: the item, or the object with the field; tells it from others that have the same reason.
            nth: number of equal parts in one reply so far, this one included.
        """
        known = (source, reason, crc32(repr(part).encode("utf-8", "replace")), nth)
        with self._lock:
            if known in self._known:
                return
            self._count(known)
            if self._kept:
                self._kept.append(_PART.dump_json(known).decode())
            first = self._counts[source] == 1 and self.is_told
        if first:
            _log.warning(_WARNING, source, reason)

    def keep(self, path: Path) -> None:
        """Write each item and field that is counted to a file, and count those that the file has already.

        Counts of `take` are not kept, as they are known again when the city is opened.

        Raises:
            BadInput: the file is broken.
            CannotWrite: it cannot be written.
        """
        lines = JsonLines(path, "resume the run", sync=False)
        before = dict.fromkeys(lines.read(_PART.validate_json, mend=": remove the file to count anew"))
        with self._lock:
            for part in [part for part in self._known if part not in before]:
                lines.append(_PART.dump_json(part).decode())
            for part in [part for part in before if part not in self._known]:
                self._count(part)
            self._kept = lines

    def _count(self, part: _Part) -> None:
        """Count an item or field under its source, and keep its reason among the first."""
        source, reason, *_ = part
        self._known[part] = None
        self._counts[source] += 1
        reasons = self._reasons.setdefault(source, [])
        if len(reasons) < MOST_REASONS:
            reasons.append(reason)

    def add_unreached(self, mode: str, names: Iterable[str]) -> None:
        """Count the places with these names, to which no way of a mode such as `"walking"` leads."""
        for name in names:
            self.add(f"ways ({mode})", f"no way leads to {name}", name)

    def take(self, omission: Omission) -> None:
        """Set the count and reasons of a source to those of an omission that was counted earlier."""
        with self._lock:
            is_new = omission.source not in self._counts
            self._counts[omission.source] = omission.count
            self._reasons[omission.source] = list(omission.reasons)
        if is_new and self.is_told:
            _log.warning(_WARNING, omission.source, omission.reasons[0])

    def omissions(self) -> tuple[Omission, ...]:
        """Return the count and first reasons of each source, in the order in which sources came up first."""
        with self._lock:
            return tuple(
                Omission(source, count, tuple(self._reasons[source]))
                for source, count in self._counts.items()
            )

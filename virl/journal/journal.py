"""The journal of a run: append, go on after any interruption, and read while another process writes.

Described in `docs/reference/run-folder.md`.
"""

import io
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import reduce
from itertools import chain, count
from pathlib import Path
from typing import Any, BinaryIO, Self, TypeVar

import PIL.Image
from pydantic import ValidationError

from virl.errors import JournalBroken
from virl.files.writing import (
    MOST_LINE,
    PARTIAL,
    TOO_LONG,
    JsonLines,
    read_bounded,
    refusals_in_a_line,
    write_whole,
)
from virl.journal.folder import lock_run
from virl.journal.reading import (
    RESUME,
    RecordSequence,
    line_error,
    missing_view,
    read_contents,
)
from virl.journal.records import (
    AnyRecord,
    CostRecord,
    EndRecord,
    InterruptedRecord,
    NoteRecord,
    Record,
    RequestsRecord,
    Result,
    StartRecord,
    StepRecord,
)
from virl.money.book import Paid
from virl.platform.city.streetview import Image

JOURNAL, RESULT, VIEWS = "journal.jsonl", "result.json", "views"
JPEG_QUALITY = 88  # chosen: small signs stay readable
RULES, SCRIPTED = "rules", "scripted:"
"""Name of the mind that decides by rules, and prefix of the names of minds that replay a script."""

CostT = TypeVar("CostT", bound=Record)
_VIEW_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
_log = logging.getLogger(__name__)


class Journal:
    """The growing record of one run; made by `create`, `open` or `resume`, and locked against other writers.

    Each record is one line of JSON, handed to the disk before `append` returns. Close it, or use it in
    a `with` block.
    """

    def __init__(self, folder: Path, lock: BinaryIO, records: Sequence[AnyRecord], lines: JsonLines) -> None:
        """Open a journal for lines after its `records`; `lock` is the lock file that the process holds."""
        self.folder = folder
        self._lock = lock
        self._lines = lines
        self._kept: set[str] = set()
        self._sequence = RecordSequence()
        self.tell: Callable[[AnyRecord], None] | None = None
        """Function called with each record after it is written; `None` for none."""
        for record in records:
            self._sequence.take(record)

    @classmethod
    def create(cls, folder: Path, start: StartRecord) -> Self:
        """Return the journal of a new run, with `start` as first record, in a folder that is made if missing.

        Raises:
            JournalBroken: the folder already holds a run, or another process is writing to it.
            CannotWrite: the folder or the journal cannot be written.
        """
        path = folder / JOURNAL
        with refusals_in_a_line(folder, "start again"):
            (folder / VIEWS).mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            lock = stack.enter_context(lock_run(folder))
            if path.exists():
                raise JournalBroken(f"{path}: already contains a run: resume it, or choose another folder")
            # Whole or not at all: a journal without its start cannot be resumed.
            write_whole(path, start.model_dump_json().encode() + b"\n", "start again")
            made = cls(folder, lock, *read_contents(path))
            stack.pop_all()  # from here on the journal holds the lock
        return made

    @classmethod
    def resume(cls, folder: Path) -> tuple[Self, tuple[AnyRecord, ...]]:
        """Return (journal, its records) of a run in a folder, to go on after its last whole record.

        A last line that was cut off, as a kill leaves it, is set aside in `journal.jsonl.cut-N`. The last
        record is an `EndRecord` if the run is over.

        Raises:
            JournalBroken: there is no journal, a line or view is damaged or missing, the format is of
                another version, or another process is writing the run. The journal is left untouched.
            CannotWrite: the run's folder cannot be written.
        """
        path = folder / JOURNAL
        read_contents(path)  # before anything, a lock file included, is made in what may be no run at all
        with ExitStack() as stack:
            lock = stack.enter_context(lock_run(folder))
            records, lines = read_contents(path)
            for number, record in enumerate(records, start=1):
                if fault := missing_view(folder, record):
                    raise line_error(path, number, fault)
            with refusals_in_a_line(folder, RESUME):
                _tidy(lines)
            stack.pop_all()
        return cls(folder, lock, records, lines), records

    @classmethod
    def open(cls, folder: Path, start: StartRecord) -> tuple[Self, tuple[AnyRecord, ...]]:
        """Return (journal, its records) of a run in a folder, resumed if it has a journal, else created.

        Of a created run there are no records, not even `start`. Errors are those of `create` and `resume`.
        """
        if (folder / JOURNAL).exists():
            return cls.resume(folder)
        return cls.create(folder, start), ()

    @property
    def next_seq(self) -> int:
        """The sequence number of the next record, from 0."""
        return self._sequence.count

    @property
    def is_over(self) -> bool:
        """Return whether the run has ended, so that nothing can be appended."""
        return self._sequence.ended

    def append(self, record: StepRecord | NoteRecord | EndRecord) -> None:
        """Write a record to the journal; it is on disk when the method returns.

        Raises:
            ValueError: the record's numbers do not follow the last one's, a view it names was not kept,
                the run is over, or the journal is closed.
            CannotWrite: the disk refuses. The journal stays as it was before, and the run can be resumed.
        """
        if fault := self._sequence.fault(record) or missing_view(self.folder, record):
            raise ValueError(f"record {record.seq} {fault}")
        # Without its lock, another process may write to the same file.
        if self._lock.closed:
            raise ValueError("the journal is closed")
        self._lines.append(record.model_dump_json())
        self._sequence.take(record)
        if self.tell:
            self.tell(record)

    def keep_view(self, name: str, pixels: Image) -> str:
        """Write a view as JPEG and return its path in the run's folder, for `ViewRecord.file`.

        Args:
            name: file name without suffix: letters, digits, `.`, `_` and `-`. A number is added where the
                name is taken.
            pixels: RGB, shape (height, width, 3), uint8.

        Raises:
            ValueError: the name holds other characters.
            CannotWrite: the disk refuses.
        """
        if not _VIEW_NAME.fullmatch(name):
            raise ValueError(f"view name {name!r} may hold letters, digits, '.', '_' and '-' only")
        # Names in the records count too: a resumed run overwrites no picture of its earlier part.
        files = chain([f"{VIEWS}/{name}.jpg"], (f"{VIEWS}/{name}.{number}.jpg" for number in count(2)))
        file = next(one for one in files if one not in self._kept and one not in self._sequence.views)
        jpeg = io.BytesIO()
        PIL.Image.fromarray(pixels).save(jpeg, "JPEG", quality=JPEG_QUALITY)
        write_whole(self.folder / file, jpeg.getvalue(), RESUME)
        self._kept.add(file)
        return file

    def close(self) -> None:
        """Close the journal and release its lock; a second call does nothing."""
        self._lock.close()

    def __enter__(self) -> Self:
        """Return the journal, which the end of the block closes."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the journal and release its lock."""
        self.close()


def read_journal(path: Path) -> tuple[AnyRecord, ...]:
    """Return the whole records of a journal, given its run's folder or its file, without a torn last line.

    Raises:
        JournalBroken: as `Journal.resume`, but views are not looked for.
    """
    return read_contents(path if path.is_file() else path / JOURNAL)[0]


def write_result(folder: Path, result: Result) -> Path:
    """Write a run's result to `result.json`, and return the file's path.

    Raises:
        CannotWrite: the disk refuses.
    """
    path = folder / RESULT
    write_whole(path, result.model_dump_json(indent=2).encode() + b"\n", RESUME)
    return path


def read_result(folder: Path, ended: Result) -> Result | None:
    """Return the result in `result.json`; `None` if it is missing, damaged or other than `ended`."""
    path = folder / RESULT
    try:
        told = Result.model_validate_json(read_bounded(path) or b"") if path.is_file() else None
    except (OSError, ValidationError):
        return None
    return told if told and told.model_copy(update={"truth": None}) == ended else None


def asks_model(mind: str) -> bool:
    """Return whether a mind of this name asks a language model, which rules and scripts do not."""
    return mind != RULES and not mind.startswith(SCRIPTED)


def count_replies(folder: Path) -> Counter[str]:
    """Return the number of replies that minds gave in a run so far, by prompt; consulted agents included."""
    given: Counter[str] = Counter()
    for journal in folder.rglob(JOURNAL) if folder.is_dir() else ():
        work = [one for one in read_journal(journal) if not isinstance(one, StartRecord)]
        given.update(exchange.prompt for record in work for exchange in record.asked)
    return given


def total_cost(records: Iterable[AnyRecord], after: RequestsRecord | None = None) -> CostRecord:
    """Return the summed cost of a journal's steps and notes, and of the requests `after` the last record."""
    work = [record for record in records if isinstance(record, StepRecord | NoteRecord)]
    # Rules and scripts answer without a model: their answers are no calls.
    asked = [exchange for record in work for exchange in record.asked if asks_model(exchange.mind)]
    requests = [record.requests for record in work] + ([after] if after else [])
    usd = sum(request.usd for request in requests)
    own = CostRecord(
        usd=round(sum(exchange.usd for exchange in asked) + usd, 9),
        llm_calls=sum(exchange.attempts for exchange in asked if not exchange.cached),
        llm_cached=sum(exchange.cached for exchange in asked),
        input_tokens=sum(exchange.input_tokens for exchange in asked),
        output_tokens=sum(exchange.output_tokens for exchange in asked),
        views=sum(len(record.views) for record in work),
        requests=RequestsRecord(
            sent=_sum_counts(request.sent for request in requests),
            cached=_sum_counts(request.cached for request in requests),
            received=_sum_counts(request.received for request in requests),
            usd=round(usd, 9),
        ),
        seconds=sum(record.seconds for record in work),
    )
    others = [record.cost for record in work if isinstance(record, NoteRecord) and record.cost]
    return reduce(sum_costs, others, own)


def paid_by(recorded: CostRecord) -> Paid:
    """Return the numbers of a journal's cost that a book of payments has too: dollars, requests, tokens."""
    return Paid(
        recorded.usd,
        recorded.requests.sent,
        recorded.requests.usd,
        recorded.llm_calls,
        recorded.input_tokens,
        recorded.output_tokens,
    )


def booked_cost(recorded: CostRecord, paid: Paid) -> CostRecord:
    """Return the cost `recorded` in a journal with its payments replaced by those in a book, `paid`."""
    lost = paid.minus(paid_by(recorded))
    interrupted = InterruptedRecord(
        usd=max(0.0, round(paid.usd - recorded.usd, 6)),  # the book rounds each request up
        sent=dict(sorted(lost.sent.items())),
        llm_calls=lost.calls,
        input_tokens=lost.input_tokens,
        output_tokens=lost.output_tokens,
    )
    requests = {"sent": dict(sorted(paid.sent.items())), "usd": round(paid.provider_usd, 9)}
    return recorded.model_copy(
        update={
            "usd": round(paid.usd, 9),
            "llm_calls": paid.calls,
            "input_tokens": paid.input_tokens,
            "output_tokens": paid.output_tokens,
            "requests": recorded.requests.model_copy(update=requests),
            "interrupted": sum_costs(recorded.interrupted, interrupted),
        }
    )


def sum_costs(one: CostT, other: CostT) -> CostT:
    """Return the sum of two records of one class, field by field: numbers, counts by name, inner records."""
    sums: dict[str, Any] = {}
    for (name, left), (_, right) in zip(one, other, strict=True):
        if isinstance(left, dict):
            sums[name] = _sum_counts((left, right))
        elif isinstance(left, Record):
            sums[name] = sum_costs(left, right)
        else:
            sums[name] = round(left + right, 9) if name == "usd" else left + right
    return type(one)(**sums)


def _sum_counts(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the sums of counts by name, sorted by name."""
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(sorted(total.items()))


def _tidy(lines: JsonLines) -> None:
    """Move a journal's torn last line to a file of its own, and delete views that were only half written."""
    path = lines.path
    for partial in (path.parent / VIEWS).glob("*" + PARTIAL):
        partial.unlink()
    if not lines.torn:
        return
    names = (path.with_name(f"{path.name}.cut-{number}") for number in count(1))
    aside = next(name for name in names if not name.exists())
    write_whole(aside, lines.torn, RESUME)
    lines.heal()
    _log.warning("%s: the last line was cut off and is kept in %s; going on before it", path, aside.name)


class JournalTail:
    """A reader of a run's records while another process writes them; it locks and changes nothing."""

    def __init__(self, folder: Path) -> None:
        """Begin before the first record of the run in a folder."""
        self._path = folder / JOURNAL
        self._offset = 0  # bytes that were read
        self._sequence = RecordSequence()

    @property
    def is_over(self) -> bool:
        """Return whether the run's last record has been read."""
        return self._sequence.ended

    def read_new(self) -> Iterator[AnyRecord]:
        """Yield the records written since the last call; one that is being written comes with a later call.

        Raises:
            JournalBroken: the journal is missing or cannot be read, a line is damaged or out of order, or
                lines that were read are gone.
        """
        try:
            with self._path.open("rb") as file:
                if file.seek(0, 2) < self._offset:
                    raise JournalBroken(f"{self._path}: lines have been removed from it: start again")
                file.seek(self._offset)
                while (
                    (line := file.readline(MOST_LINE)).endswith(b"\n") and b"\0" not in line and line.strip()
                ):
                    try:
                        record = self._sequence.parse(self._path, line)
                    except ValueError as fault:
                        raise line_error(self._path, self._sequence.count + 1, str(fault)) from fault
                    self._offset += len(line)
                    yield record
        except OSError as fault:
            raise JournalBroken(f"{self._path}: cannot be read ({fault.strerror})") from fault
        if len(line) == MOST_LINE:  # a shorter one a kill or a crash left: whoever resumes the run removes it
            raise line_error(self._path, self._sequence.count + 1, TOO_LONG)

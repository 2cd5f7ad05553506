"""A file that grows by one JSON line a row, so that what was killed goes on without asking twice."""

import os
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from virl.errors import BadInput
from virl.journal.files import writing


class Row(BaseModel):
    """Base of all rows: immutable, nothing beside the fields named; `id` tells it from the others."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    id: str


RowT = TypeVar("RowT", bound=Row)


class Rows(Generic[RowT]):
    """The rows of one file, in the order they were added.

    A last line that was cut off, as a kill leaves it, is dropped when the file is opened to be written.

    Args:
        path: the file; it appears with its first row.
        model: what a row is.

    Raises:
        BadInput: a line holds no such row, or two have one id; names file, line and field.
    """

    def __init__(self, path: Path, model: type[RowT]) -> None:
        self.path = path
        self._model = model
        self._rows: dict[str, RowT] = {}
        self._size = 0
        if path.exists():
            self._read(path.read_bytes())

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, row_id: object) -> bool:
        return row_id in self._rows

    @property
    def all(self) -> tuple[RowT, ...]:
        """The rows, the first added first."""
        return tuple(self._rows.values())

    def get(self, row_id: str) -> RowT | None:
        """The row of an id, if there is one."""
        return self._rows.get(row_id)

    def add(self, row: RowT) -> None:
        """Write a row down; a kill after this returns does not lose it.

        Raises:
            ValueError: there is a row of its id.
            CannotWrite: the disk refuses.
        """
        if row.id in self._rows:
            raise ValueError(f"{self.path}: has a row {row.id!r} already")
        line = row.model_dump_json().encode() + b"\n"
        with writing(self.path, "collect again"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab") as file:
                file.truncate(self._size)
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        self._size += len(line)
        self._rows[row.id] = row

    def _read(self, data: bytes) -> None:
        whole, _, _ = data.rpartition(b"\n")
        for number, line in enumerate(whole.splitlines(), start=1):
            row = self._row(line, number)
            if row.id in self._rows:
                raise BadInput(f"{self.path}, line {number}: id: {row.id!r} stands in an earlier line too")
            self._rows[row.id] = row
        self._size = len(whole) + 1 if whole else 0

    def _row(self, line: bytes, number: int) -> RowT:
        try:
            return self._model.model_validate_json(line)
        except ValidationError as fault:
            first = fault.errors()[0]
            field = ".".join(str(part) for part in first["loc"]) or "the line"
            said = first["msg"].removeprefix("Value error, ")
            raise BadInput(f"{self.path}, line {number}: {field}: {said}") from None

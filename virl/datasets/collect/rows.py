"""A file that grows by one JSON line a row, so that what was killed goes on without asking twice."""

from pathlib import Path
from typing import Generic, TypeVar

from virl.files.json_reading import JsonRecord
from virl.files.writing import JsonLines


class Row(JsonRecord):
    """Base of all rows: immutable JSON with an `id` that is unique in its file."""

    id: str


RowT = TypeVar("RowT", bound=Row)


class Rows(Generic[RowT]):
    """The rows of one file, in the order in which they were added.

    A last line that was cut off, as a kill leaves it, is dropped when the next row is added.

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
        self._lines = JsonLines(path, "collect again")
        for row in self._lines.read(self._new_row):
            self._rows[row.id] = row

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, row_id: object) -> bool:
        return row_id in self._rows

    @property
    def all(self) -> tuple[RowT, ...]:
        """The rows, the first added first."""
        return tuple(self._rows.values())

    def get(self, row_id: str) -> RowT | None:
        """Return the row with an id; `None` without one."""
        return self._rows.get(row_id)

    def add(self, row: RowT) -> None:
        """Write a row, on disk before this returns.

        Raises:
            ValueError: there is a row of its id.
            CannotWrite: the disk refuses.
        """
        if row.id in self._rows:
            raise ValueError(f"{self.path}: has a row {row.id!r} already")
        self._lines.append(row.model_dump_json())
        self._rows[row.id] = row

    def _new_row(self, line: bytes) -> RowT:
        """Return the row of a line, once its id is new."""
        row = self._model.model_validate_json(line)
        if row.id in self._rows:
            raise ValueError(f"id: {row.id!r} is repeated")
        return row

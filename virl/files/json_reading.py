"""Reading JSON from outside within bounds of its size, its depth and its numbers."""

import re
import stat
from math import isfinite
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json

from virl.errors import BadInput

MAX_FILE_MB = 512
"""Size of the largest file that is read, in megabytes (chosen: ten times the largest public data file)."""

MAX_DEPTH = 200
"""Largest number of nested brackets in JSON that is read: the limit of pydantic's JSON parser."""

_MAX_INTEGER = 2**63
_PLACE = re.compile(r" at line (\d+) column (\d+)$")
_LARGE = re.compile(rb"\d{19}|[eE]\+?\d{3}")
_HEX = rb"[0-9a-fA-F]{2}"
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB]%b\\u[dD][c-fC-F]%b|(u[dD][89a-fA-F]%b)|.)" % (_HEX, _HEX, _HEX), re.DOTALL
)
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|(-?\d+)(\.\d+)?([eE][+-]?\d+)?', re.DOTALL)


class JsonRecord(BaseModel):
    """Base of records that are kept as JSON: frozen, without unknown fields, and with finite numbers only."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class JsonFault(ValueError):
    """An error: a text is not JSON, or exceeds the bounds.

    Args:
        reason: the fault, as the end of a message.
        line: the line of the fault, from 1; 0 if it has none.
        column: the column of the fault, from 1; 0 if it has none.
    """

    def __init__(self, reason: str, line: int = 0, column: int = 0) -> None:
        """Make an error with a reason in words, and a line and column counted from 1; 0 if unknown."""
        super().__init__(f"line {line}, column {column}: {reason}" if line else reason)
        self.reason = reason
        self.line = line
        self.column = column

    @property
    def at_column(self) -> str:
        """Words on the column, such as " at column 3"; empty without a column."""
        return f" at column {self.column}" if self.column else ""


def read_json(data: bytes, *, from_service: bool = False) -> Any:
    """Return the value of UTF-8 JSON; `from_service` accepts numbers beyond 64 bits and lone surrogates.

    A byte order mark is skipped. Accepted integers stay as they are, other numbers become infinite, and
    halves of surrogate pairs U+FFFD, for a reader that refuses only the fields that it uses.

    Raises:
        JsonFault: the data is no JSON or no UTF-8, or is nested more than `MAX_DEPTH` deep; or a number is
            `NaN` or, without `from_service`, infinite or an integer of more than 64 bits.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    data = whole_escapes(data) if from_service else data
    try:
        found = from_json(data, allow_inf_nan=False)
    except ValueError as fault:
        words = str(fault)
        place = _PLACE.search(words)
        reason = words[: place.start()] if place else words
        if reason == "recursion limit exceeded":
            reason = f"nested too deeply (more than {MAX_DEPTH} brackets)"
        line, column = (int(place[1]), max(int(place[2]), 1)) if place else (0, 0)
        raise JsonFault(reason, line, column) from None
    if not from_service and _LARGE.search(data):
        _check_numbers(data)
    return found


def whole_escapes(data: bytes) -> bytes:
    """Return JSON with escapes of lone surrogates, such as U+D800, replaced by those of U+FFFD."""
    if b"\\ud" not in data.lower():
        return data
    return _ESCAPE.sub(lambda found: rb"\ufffd" if found[1] else found[0], data)


def read_json_file(file: Path) -> Any:
    """Return the value of a JSON file, read as `read_json` does.

    Raises:
        BadInput: the file is missing, cannot be read, is larger than `MAX_FILE_MB`, or `read_json` refuses
            it; the message names file, line and column.
    """
    try:
        if stat.S_ISFIFO((status := file.stat()).st_mode) or stat.S_ISCHR(status.st_mode):
            raise BadInput(f"{file}: is a pipe or a device: give a file")
        if status.st_size > MAX_FILE_MB * 1e6:
            raise BadInput(f"{file}: larger than {MAX_FILE_MB} MB")
        data = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise BadInput(f"{file}: no such file") from None
    except OSError as fault:
        raise BadInput(f"{file}: cannot be read ({fault.strerror})") from fault
    try:
        return read_json(data)
    except JsonFault as fault:
        line = f", line {fault.line}" if fault.line else ""
        raise BadInput(f"{file}{line}: not valid JSON{fault.at_column}: {fault.reason}") from None


def _check_numbers(data: bytes) -> None:
    """Raise `JsonFault` for the first number of JSON that is too large for a 64-bit integer or float."""
    for token in _TOKEN.finditer(data):
        digits, fraction, exponent = token.groups()
        if digits is None:
            continue
        whole = not (fraction or exponent)
        if abs(int(digits)) >= _MAX_INTEGER if whole else not isfinite(float(token[0])):
            line = data.count(b"\n", 0, token.start()) + 1
            column = token.start() - data.rfind(b"\n", 0, token.start())
            raise JsonFault("the number is out of range", line, column)


def misfits(error: ValidationError, whole: str = "") -> list[str]:
    """Return pydantic's faults as texts, "path.2: Input should be ..."; those of no field begin with `whole`.

    For data that programs or models write; `virl.settings.faults` is for files that people write. A fault of
    the data as a whole begins with the name `whole`, if given.
    """
    found = []
    for fault in error.errors(include_url=False, include_context=False, include_input=False):
        field = ".".join(map(str, fault["loc"])) or whole
        reason = fault["msg"].removeprefix("Value error, ")
        found.append(f"{field}: {reason}" if field else reason)
    return found

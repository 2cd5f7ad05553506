"""JSON from outside: within its bounds, or refused with a place."""

from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError, model_validator

from virl.errors import BadInput
from virl.files.json_reading import MAX_DEPTH, JsonFault, misfits, read_json, read_json_file


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a": [1, 2.5, "\xc3\xa9", null, true]}', {"a": [1, 2.5, "é", None, True]}),
        (b"\xef\xbb\xbf{}", {}),
        (b"[9223372036854775807, -1e308]", [2**63 - 1, -1e308]),
        (b'["1e999", "' + b"1" * 400 + b'", 0.' + b"1" * 400 + b"]", ["1e999", "1" * 400, 1 / 9]),
        (b"[" * MAX_DEPTH + b"]" * MAX_DEPTH, None),
    ],
)
def test_what_is_within_bounds_is_read(data: bytes, value: object) -> None:
    found = read_json(data)
    if value is not None:
        assert found == value


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"", 1, "EOF"),
        (b'{"a": 1,\n "b": }', 2, "expected value"),
        (b"[" * 100_000, 1, "nested too deeply"),
        (b"[" * (MAX_DEPTH + 2) + b"]" * (MAX_DEPTH + 2), 1, "nested too deeply"),
        (b"[1,\n" + b"9" * 400 + b"]", 2, "out of range"),
        (b"[" + b"9" * 5000 + b"]", 1, "out of range"),
        (b"[9223372036854775808]", 1, "out of range"),
        (b'{"text": "1e999 \\" 1e999",\n"b": -1e999}', 2, "out of range"),
        (b"[NaN]", 1, "expected value"),
        (b"[1, -Infinity]", 1, "number"),
        (b'"\xff"', 1, "unicode"),
        (b'["\\ud800"]', 1, "escape"),
        (b"<html></html>", 1, "expected value"),
        (b"\xff\xfe{\x00}\x00", 1, "expected value"),
    ],
)
def test_what_is_not_is_refused_with_its_line(data: bytes, line: int, words: str) -> None:
    with pytest.raises(JsonFault, match=words) as caught:
        read_json(data)
    assert (caught.value.line, "\n" in str(caught.value)) == (line, False)
    assert caught.value.column >= 1


@pytest.mark.parametrize(
    ("escaped", "read"),
    [(r"caf\ud83d", "caf\ufffd"), (r"\ude00\uD83D\ude00", "\ufffd\U0001f600"), (r"\\ud83d", r"\ud83d")],
)
def test_half_a_surrogate_pair_of_a_service_becomes_a_mark(escaped: str, read: str) -> None:
    assert read_json(f'{{"{escaped}": "{escaped}"}}'.encode(), from_service=True) == {read: read}


def test_a_file_is_named_with_the_line(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    with pytest.raises(BadInput, match=r"a\.json: no such file"):
        read_json_file(file)
    with pytest.raises(BadInput, match="cannot be read"):
        read_json_file(tmp_path)
    file.write_text('{\n"a": 1,}')
    with pytest.raises(BadInput, match=r"a\.json, line 2: not valid JSON at column 8: trailing comma"):
        read_json_file(file)
    file.write_text('{"a": 1}')
    assert read_json_file(file) == {"a": 1}


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "large.json"
    with file.open("wb") as sparse:
        sparse.truncate(513_000_000)
    with pytest.raises(BadInput, match="larger than 512 MB"):
        read_json_file(file)


class Pair(BaseModel):
    low: int
    path: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_low(self) -> "Pair":
        if self.low > 9:
            raise ValueError("is too high")
        return self


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (
            {"low": "x", "path": ["a", 1]},
            [
                "low: Input should be a valid integer, unable to parse string as an integer",
                "path.1: Input should be a valid string",
            ],
        ),
        ({"low": 10}, ["the pair: is too high"]),
    ],
)
def test_what_does_not_fit_is_told_field_by_field(data: dict[str, object], told: list[str]) -> None:
    with pytest.raises(ValidationError) as caught:
        Pair.model_validate(data)
    assert misfits(caught.value, "the pair") == told


def test_a_fault_of_the_whole_needs_no_name() -> None:
    with pytest.raises(ValidationError) as caught:
        Pair.model_validate({"low": 10})
    assert misfits(caught.value) == ["is too high"]

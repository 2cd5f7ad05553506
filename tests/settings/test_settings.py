import os
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import Field, RootModel

from virl.errors import BadInput
from virl.files.json_reading import read_json_file
from virl.geo.globe import LatLng
from virl.settings.model import Settings, load_settings, parse_settings
from virl.settings.yaml import read_text


class Inner(Settings):
    steps: int = Field(default=1, ge=1)


class Outer(Settings):
    name: str
    limits: Inner = Inner()
    tags: tuple[int, ...] = ()


def fault(text: str) -> str:
    with pytest.raises(BadInput) as caught:
        parse_settings(text, Outer, source="some.yaml")
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_reads_what_the_file_says() -> None:
    assert parse_settings("name: a\nlimits: {steps: 3}\ntags: [1, 2]", Outer, source="x") == Outer(
        name="a", limits=Inner(steps=3), tags=(1, 2)
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "name: a\nlimits:\n  steps: many\n",
            "some.yaml, line 3: limits.steps: must be a whole number",
        ),
        ("name: a\nlimits:\n  stepz: 4\n", "some.yaml, line 3: limits.stepz: unknown field"),
        ("limits:\n  steps: 4\n", "some.yaml, line 1: name: field is missing"),
        ("name: a\ntags:\n - 1\n - x\n", "some.yaml, line 4: tags, entry 2: must be a whole number, not 'x'"),
        ("name: a\ntags: b, c\n", "some.yaml, line 2: tags: must be a list, such as [1, 2], not 'b, c'"),
        ("name: a\nlimits: 3\n", "some.yaml, line 2: limits: must contain `field: value` lines, not 3"),
        ("name: 7\n", "some.yaml, line 1: name: must be text (put it in quotes), not 7"),
        ("name: a\nname: b\n", "some.yaml, line 2: field 'name' is repeated"),
        ("name: [a\n", "some.yaml, line 1: not valid YAML"),
        ("name: !!python/object:os.system x\n", "some.yaml, line 1: not valid YAML"),
        ("- a\n- b\n", "some.yaml, line 1: must contain `field: value` lines, not a list"),
        ("", "some.yaml: is empty: write the fields name"),
        ("? [a, b]\n: 1\nname: a\n", "some.yaml"),
        ("name: \x00", "some.yaml, line 1: the character U+0000 is not allowed in YAML"),
    ],
)
def test_a_fault_is_one_line_with_file_field_and_line(text: str, expected: str) -> None:
    assert fault(text).startswith(expected)


def test_line_numbers_count_from_where_the_text_begins() -> None:
    with pytest.raises(BadInput, match=r"prompt\.md, line 8: limits\.steps"):
        parse_settings("name: a\nlimits: {steps: 0}", Outer, source="prompt.md", first_line=7)


@pytest.mark.parametrize("read", [read_text, read_json_file])
def test_a_pipe_that_nobody_writes_to_is_not_waited_for(
    read: Callable[[Path], object], tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "zoe.yaml")
    with pytest.raises(BadInput, match=r"zoe\.yaml: is a pipe"):
        read(tmp_path / "zoe.yaml")


def test_a_missing_or_unreadable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.yaml: no such file"):
        load_settings(tmp_path / "none.yaml", Outer)
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00\xd8")
    with pytest.raises(BadInput, match=r"bytes\.yaml, line 1: is UTF-16, not UTF-8: save the file as UTF-8"):
        load_settings(tmp_path / "bytes.yaml", Outer)
    with pytest.raises(BadInput, match="cannot be read"):
        load_settings(tmp_path, Outer)


class Node(Settings):
    """A model that contains itself, with kinds of fields that Outer lacks."""

    links: "Links | None" = None
    day: date | None = None
    file: Path | None = None
    share: Annotated[int | float, Field(ge=0, lt=1)] = 0
    corners: tuple[LatLng, ...] = ()
    by_number: dict[int, Inner] | None = None


class Links(RootModel[dict[str, Node]]):
    """Nodes by name."""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("links: {a: {links: {b: {dya: 1}}}}", "links.a.links.b.dya: unknown field; did you mean 'day'?"),
        ("day: soon", "day: must be a date, such as 2026-01-31, not 'soon'"),
        ("file: 3", "file: must be text (put it in quotes), not 3"),
        ("share: 1", "share: must be at least 0 and below 1, not 1"),
        ("corners: [[1, 2], [3, x]]", "corners, entry 2, lng: must be a number, not 'x'"),
        ("corners: [[1]]", "corners, entry 1: must be [lat, lng], not [1]"),
        ("by_number: {1: {steps: 0}}", "by_number.1.steps: must be at least 1, not 0"),
    ],
)
def test_a_fault_deep_in_a_model_is_told_by_what_its_field_may_hold(text: str, expected: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_settings(text, Node, source="some.yaml")
    assert str(caught.value) == f"some.yaml, line 1: {expected}"

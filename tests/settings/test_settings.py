from pathlib import Path

import pytest
from pydantic import Field

from virl.errors import BadInput
from virl.settings.model import Settings, load_settings, parse_settings


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


def test_a_missing_or_unreadable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.yaml: no such file"):
        load_settings(tmp_path / "none.yaml", Outer)
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00\xd8")
    with pytest.raises(BadInput, match=r"bytes\.yaml, line 1: is UTF-16, not UTF-8: save the file as UTF-8"):
        load_settings(tmp_path / "bytes.yaml", Outer)
    with pytest.raises(BadInput, match="cannot be read"):
        load_settings(tmp_path, Outer)

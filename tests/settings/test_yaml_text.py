"""YAML of every kind of wrongness: one line each, at once, with the line where it is."""

from collections.abc import Callable
from pathlib import Path

import pytest

from virl.errors import BadInput
from virl.settings.model import Settings, load_settings, yaml_value
from virl.settings.yaml import MAX_BYTES, YamlText, parse_yaml, read_text


class Anything(Settings):
    """Takes one field, whatever it holds."""

    it: object = None


def bomb(link: Callable[[str], str]) -> str:
    """Ten levels, each of which holds the one below nine times."""
    levels = [f"a{i}: &a{i} {link(', '.join([f'*a{i - 1}'] * 9))}" for i in range(1, 10)]
    return "\n".join(["a0: &a0 {x: 1}", *levels])


def refused(text: str | bytes, folder: Path) -> str:
    file = folder / "zoe.yaml"
    file.write_bytes(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
    with pytest.raises(BadInput) as caught:
        load_settings(file, Anything)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(f"{folder}/")


NO = "not valid YAML: "


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("it: &a [*a]", f"line 1: {NO}the alias *a is inside of what it stands for"),
        (bomb("[{}]".format), f"line 6: {NO}more than 100,000 values, aliases written out"),
        (bomb("{{<<: [{}]}}".format), f"line 6: {NO}more than 100,000 values, aliases written out"),
        ("\nit: " + "[" * 1500 + "]" * 1500, f"line 2: {NO}lists or sections are nested more than 40 deep"),
        ("it: " + "[" * 200_000, f"line 1: {NO}lists or sections are nested more than 40 deep"),
        ("[?" * 300_000, f"line 1: {NO}lists or sections are nested more than 40 deep"),
        ("- " * 300_000, f"line 1: {NO}lists or sections are nested more than 40 deep"),
        ("it: [" + "1," * 150_000 + "]", f"line 1: {NO}more than 100,000 values, aliases written out"),
        ("it: " + "9" * 5000, f"line 1: {NO}a number of more than 100 characters"),
        ("it: !!timestamp x", f"line 1: {NO}the tag !!timestamp is not allowed: remove it"),
        ("it: !!binary aGk=", f"line 1: {NO}the tag !!binary is not allowed: remove it"),
        ("it: !!set {a}", f"line 1: {NO}the tag !!set is not allowed: remove it"),
        ("it: !mine a", f"line 1: {NO}the tag !mine is not allowed: remove it"),
        (
            "it: !!python/object:os.system x",
            f"line 1: {NO}the tag !!python/object:os.system is not allowed: remove it",
        ),
        ("it: !!int x", f"line 1: {NO}'x' is not of the type !!int"),
        ("it: !!bool x", f"line 1: {NO}'x' is not of the type !!bool"),
        ("it: !!float x", f"line 1: {NO}'x' is not of the type !!float"),
        (
            "it: 1\n---\nit: 2",
            f"line 2: {NO}a second document begins here: keep one, and remove the line `---`",
        ),
        (
            "it: 1\nthat: 2\nit: 3\nthat: 4",
            "2 faults: line 3: field 'it' is repeated; line 4: field 'that' is repeated",
        ),
        ("it: 1\n\tx: 2", f"line 2: {NO}a tab cannot indent a line: use spaces"),
        ("it: *a", f"line 1: {NO}an alias (*name) without its anchor (&name)"),
        ("it: [a", f"line 1: {NO}a bracket is not closed, or a comma is missing"),
        ("it: 'a\n", f"line 1: {NO}a quote or a bracket is not closed"),
        ("it: 1\nthat 2\n", f"line 2: {NO}a line without ': ' where a `field: value` line was expected"),
        ("it: @a", f"line 1: {NO}a text that begins with @, ` or % must be in quotes"),
        ("? [a]\n: 1", f"line 1: {NO}a list or a section cannot be a field's name"),
        ("<<: 3", f"line 1: {NO}`<<` takes a section or a list of sections"),
        ("it: a\n\nx: \0", "line 3: the character U+0000 is not allowed in YAML: remove it"),
        ("it: \x1b[2J", "line 1: the character U+001B is not allowed in YAML: remove it"),
        ('it: "\\ud800"', f"line 1: {NO}found invalid Unicode character escape code"),
        ("it: 1\n1: x", "line 2: 1: the name of a field must be text: put it in quotes"),
        ("it: 1\nno: x", "line 2: false: the name of a field must be text: put it in quotes"),
        ("it: 1\n~: x", "line 2: null: the name of a field must be text: put it in quotes"),
        ("it: é".encode("utf-16"), "line 1: is UTF-16, not UTF-8: save the file as UTF-8"),
        ("x: 1\nit: é".encode("latin-1"), "line 2: the byte 0xe9 is not UTF-8: save the file as UTF-8"),
        ("it: \ud800", "line 1: the byte 0xed is not UTF-8: save the file as UTF-8"),
        (b"x" * (MAX_BYTES + 1), "is larger than 1 MB, the most that a file like this may have"),
        ("", "is empty"),
        ("# nothing\n", "is empty"),
        ("- it\n", "line 1: must contain `field: value` lines, not a list"),
        ("it\n", "line 1: must contain `field: value` lines, not 'it'"),
    ],
    ids=lambda value: repr(value[:24]),
)
def test_what_is_wrong_is_one_line(text: str | bytes, message: str, tmp_path: Path) -> None:
    told = refused(text, tmp_path)
    assert told in {f"zoe.yaml, {message}", f"zoe.yaml: {message}"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12:30", "12:30"),
        ("1" + ":1" * 1000, "1" + ":1" * 1000),
        ("2001-99-99", "2001-99-99"),
        ("2026-01-31", "2026-01-31"),
        ("=", "="),
        ("0x", "0x"),
        ("1_000", 1000),
        ("0x10", 16),
        ("-1.5", -1.5),
        ("yes", True),
        ("~", None),
        ("{a: &x [1], b: *x}", {"a": [1], "b": [1]}),
        ("{<<: {a: 1, b: 2}, b: 3}", {"a": 1, "b": 3}),
        ("\ufeffx", "x"),
        ("", None),
    ],
)
def test_what_is_text_stays_text(text: str, value: object) -> None:
    assert yaml_value(text, source="--set") == value


def test_line_ends_and_a_mark_at_the_beginning_are_taken(tmp_path: Path) -> None:
    file = tmp_path / "zoe.yaml"
    file.write_bytes(b"\xef\xbb\xbfit:\r\n  - a\r\n")
    assert load_settings(file, Anything).it == ["a"]


def test_a_value_on_the_command_line_has_no_line() -> None:
    with pytest.raises(BadInput, match=r"^--set age=\[1: not valid YAML: a bracket is not closed"):
        yaml_value("[1", source="--set age=[1")
    with pytest.raises(BadInput, match=r"^--set age: the character U\+DCFF is not allowed"):
        yaml_value("\udcff", source="--set age")


def test_a_field_has_the_line_of_its_name_and_an_overridden_one_its_own() -> None:
    read: YamlText = parse_yaml(
        "a: &a\n  x: 1\nb:\n  <<: *a\n  x: 2\nc:\n  - 1\n  - 2\n", source="f", first_line=3
    )
    assert [read.line(way) for way in ((), ("a", "x"), ("b", "x"), ("c", 1), ("c", 9), ("none",))] == [
        3, 4, 7, 10, 8, 3,
    ]  # fmt: skip
    assert read.source_line(("b",)) == "f, line 5"


def test_what_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="gone: no such file"):
        read_text(tmp_path / "gone")
    with pytest.raises(BadInput, match=f"{tmp_path}: cannot be read"):
        read_text(tmp_path)
    with pytest.raises(BadInput, match="cannot be read"):
        read_text(Path("a\0b"))

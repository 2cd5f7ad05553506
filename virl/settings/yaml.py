"""YAML text as data that knows its lines; text that is too large, too deep or not YAML is refused.

It is read as YAML 1.1 by PyYAML, except that texts such as `12:30` and `2026-01-31` stay texts.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

import yaml
from yaml.composer import Composer

from virl.errors import BadFile, BadInput

Location = Sequence[str | int]
"""Path to a field: names of fields, and indices in lists from 0."""

MAX_BYTES = 1_000_000  # of a file; chosen: ten times the largest of virl's own
MAX_VALUES = 100_000  # with every alias written out; chosen likewise
MAX_DEPTH = 40  # of lists and sections in one another; chosen: virl's own files need 7
MAX_NUMBER = 100  # characters of a number; chosen

_CORE = "tag:yaml.org,2002:"
_CHECKED = frozenset(_CORE + tag for tag in ("bool", "float", "int", "null"))
_TAGS = _CHECKED | {_CORE + tag for tag in ("map", "merge", "seq", "str")}
_INT = re.compile(r"[-+]?(?:0b[01_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+)$")
_FLOAT = re.compile(
    r"(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
)
_UNPRINTABLE = re.compile("[^\x09\x0a\x0d\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NAMES_OF: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"false": ("no", "off"), "true": ("yes", "on"), "null": ("~", "")}
)
"""Other spellings in YAML of true, false and null, such as `yes`, by virl's spelling."""
_TOO_DEEP = f"lists or sections are nested more than {MAX_DEPTH} deep"
_PLAIN: Mapping[str, str] = MappingProxyType(
    {
        "maximum nesting depth": _TOO_DEEP,
        "but found another document": "a second document begins here: keep one, and remove the line `---`",
        "character '\\t'": "a tab cannot indent a line: use spaces",
        "violates indentation": "a tab cannot indent a line: use spaces",
        "mapping values are not allowed": "a second ': ' in one line, or a line that is indented too far: "
        "put the text in quotes, or indent the line like those above it",
        "could not find expected ':'": "a line without ': ' where a `field: value` line was expected",
        "undefined alias": "an alias (*name) without its anchor (&name)",
        "unhashable key": "a list or a section cannot be a field's name",
        "expected a mapping": "`<<` takes a section or a list of sections",
        "cannot start any token": "a text that begins with @, ` or % must be in quotes",
        "block collection": "the line is not indented like those above it",
        "while parsing a block mapping": "the line is not indented like those above it",
        "did not find expected key": "the line is not indented like those above it, or a quote is not closed",
        "unexpected end of stream": "a quote or a bracket is not closed",
        "did not find expected ',' or": "a bracket is not closed, or a comma is missing",
    }
)
"""Plain words for faults, by a part of the message of libyaml or PyYAML."""


@dataclass(frozen=True, slots=True)
class YamlText:
    """The values of a YAML text, with their lines."""

    data: Any
    """The values as Python's own types; `None` for an empty text."""
    source: str
    """Name of the text in errors, such as its file."""
    first_line: int
    """Number of the source's line in which the text begins."""
    root: yaml.Node | None
    """PyYAML's tree of the text; `None` for an empty text."""

    def line(self, location: Location) -> int:
        """Return the number of the line, in the source, of the deepest field on a path that the text has."""
        return self.first_line + (_line_of(self.root, location) if self.root else 0)

    def source_line(self, location: Location) -> str:
        """Return the source and the line of the field at a path, such as `zoe.yaml, line 3`."""
        return f"{self.source}, line {self.line(location)}"


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8 of at most 1 MB.

    Raises:
        BadInput: it is missing, cannot be read, is larger than 1 MB or is not UTF-8; names the line.
    """
    try:
        if path.is_fifo() and not path.is_relative_to("/dev"):  # a shell's <(...) is there, and has a writer
            raise BadInput(f"{path}: is a pipe: give a file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise BadInput(f"{path}: no such file") from None
    except (OSError, ValueError) as fault:
        raise BadInput(f"{path}: cannot be read ({fault})") from fault
    if len(data) > MAX_BYTES:
        raise BadInput(
            f"{path}: is larger than {MAX_BYTES / 1e6:g} MB, the most that a file like this may have"
        )
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadFile(f"{path}", [(1, "is UTF-16, not UTF-8: save the file as UTF-8")])
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        found = f"the byte 0x{data[fault.start]:02x} is not UTF-8: save the file as UTF-8"
        raise BadFile(f"{path}", [(line, found)]) from fault


def parse_yaml(text: str, *, source: str, first_line: int = 1) -> YamlText:
    """Return the values of a YAML text with their lines.

    Args:
        text: of YAML.
        source: named in errors.
        first_line: number of the text's first line there.

    Raises:
        BadFile: it is not YAML, has a value that is none, repeats a field, or is too large or too deep.
    """
    text = text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")
    if unprintable := _UNPRINTABLE.search(text):
        line = first_line + text.count("\n", 0, unprintable.start())
        raise BadFile(
            source, [(line, f"the character U+{ord(unprintable[0]):04X} is not allowed in YAML: remove it")]
        )
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        data = None if root is None else loader.construct_document(root)
    except yaml.MarkedYAMLError as fault:
        begins = fault.context and any(what in fault.context for what in ("quoted", "simple key"))
        mark = fault.problem_mark or fault.context_mark
        if begins and fault.context_mark:  # where a quote or a field begins whose end is missing
            mark = fault.context_mark
        last = text.rstrip().count("\n")  # what is not closed is missed only after the end
        line = first_line + (min(mark.line, last) if mark else 0)
        said = " ".join(filter(None, (fault.problem, fault.context)))
        plain = next((plain for theirs, plain in _PLAIN.items() if theirs in said), fault.problem or said)
        raise BadFile(source, [(line, f"not valid YAML: {plain}")]) from fault
    except yaml.YAMLError as fault:
        raise BadFile(source, [(first_line, f"not valid YAML: {' '.join(str(fault).split())}")]) from fault
    if loader.repeated:
        repeated = sorted(loader.repeated)
        raise BadFile(source, [(first_line + line, f"field {name!r} is repeated") for line, name in repeated])
    return YamlText(data, source, first_line, root)


class _BoundedComposer(Composer):
    """A part of PyYAML's loader that refuses too deep or too many values before they are built.

    libyaml's own composer recurses without a limit, and an alias may stand for as many values as ten aliases
    before it.
    """

    peek_event: Callable[[], Any]

    def __init__(self) -> None:
        """Begin with no values counted."""
        super().__init__()
        self.repeated: list[tuple[int, str]] = []
        """Field names that a section has twice, each with its zero-based line."""
        self._sizes: dict[str | None, int] = {}  # values behind each anchor
        self._values = 0
        self._depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Return the next YAML node; raise `MarkedYAMLError` for too deep nesting or too many values."""
        event = self.peek_event()
        before, deeper = self._values, isinstance(event, yaml.CollectionStartEvent)
        self._depth += deeper
        self._values += self._size_of(event)
        if self._depth > MAX_DEPTH:
            _refuse(_TOO_DEEP, event.start_mark)
        if self._values > MAX_VALUES:
            _refuse(f"more than {MAX_VALUES:,} values, aliases written out", event.start_mark)
        node = super().compose_node(parent, index)
        self._depth -= deeper
        if event.anchor:
            self._sizes.setdefault(event.anchor, self._values - before)
        return node

    def _size_of(self, event: Any) -> int:
        """Return the number of values that a YAML event stands for: 1, or those of its alias."""
        if isinstance(event, yaml.AliasEvent):
            if event.anchor in self.anchors and event.anchor not in self._sizes:
                _refuse(f"the alias *{event.anchor} is inside of what it stands for", event.start_mark)
            return self._sizes.get(event.anchor, 1)
        if event.tag and event.tag != "!" and event.tag not in _TAGS:
            tag = event.tag.replace(_CORE, "!!")
            _refuse(f"the tag {tag[:MAX_NUMBER]} is not allowed: remove it", event.start_mark)
        return 1

    def compose_mapping_node(self, anchor: Any) -> Any:
        """Return the next mapping node, after adding field names that it has twice to `repeated`."""
        node = super().compose_mapping_node(anchor)
        names: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in names:
                self.repeated.append((key.start_mark.line, key.value))
            names.add(str(key.value))
        return node


class _Loader(_BoundedComposer, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A YAML loader with libyaml's parser where available, which is several times as fast."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML's own way to say it
        first: [(tag, form) for tag, form in forms if tag.removeprefix(_CORE) in {"bool", "merge", "null"}]
        for first, forms in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def __init__(self, text: str) -> None:
        """Begin to load a text."""
        _BoundedComposer.__init__(self)
        super(Composer, self).__init__(text)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> object:
        """Return a node's value; raise `MarkedYAMLError` if the text is no value of its type."""
        if node.tag in _CHECKED and len(node.value) > MAX_NUMBER:
            _refuse(f"a number of more than {MAX_NUMBER} characters", node.start_mark)
        try:
            value: object = super().construct_object(node, deep)
        except (ValueError, KeyError, IndexError, OverflowError, AttributeError):
            _refuse(f"{node.value!r} is not of the type {node.tag.replace(_CORE, '!!')}", node.start_mark)
        return value


_Loader.add_implicit_resolver(_CORE + "int", _INT, list("-+0123456789"))
_Loader.add_implicit_resolver(_CORE + "float", _FLOAT, list("-+.0123456789"))


def _refuse(problem: str, mark: Any) -> NoReturn:
    """Raise a `MarkedYAMLError` at a mark, PyYAML's line and column."""
    raise yaml.MarkedYAMLError(problem=problem, problem_mark=mark)


def _line_of(node: yaml.Node, location: Location) -> int:
    """Return the line number, from 0, of the deepest node on a path within a node."""
    line = int(node.start_mark.line)
    for part in location:
        if isinstance(node, yaml.MappingNode):
            name = str(part)  # a key such as `yes` is named by its value, `true`
            same = [
                (key, value)
                for key, value in node.value
                if key.value == name or str(key.value).lower() in _NAMES_OF.get(name, ())
            ]
            if not same:
                return line
            key, node = same[-1]  # a merged field (`<<`) stands before the section's own
            line = key.start_mark.line
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line
    return line

"""Overpass QL, as far as this server reads it: unions of filtered objects, recursion down, and `out`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["node", "way", "relation"]
KINDS: Mapping[str, tuple[Kind, ...]] = {
    "node": ("node",),
    "way": ("way",),
    "relation": ("relation",),
    "rel": ("relation",),
    "nwr": ("node", "way", "relation"),
    "nw": ("node", "way"),
    "nr": ("node", "relation"),
    "wr": ("way", "relation"),
}
LEVELS = frozenset({"ids", "skel", "body", "tags", "meta"})
GEOMETRIES = frozenset({"center", "geom", "bb"})

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      | (?P<number>-?\d+(?:\.\d+)?)
      | (?P<word>[A-Za-z_]\w*)
      | (?P<sign>!~|!=|[\[\]():;,.~=!><])
    )""",
    re.VERBOSE,
)


class BadQuery(ValueError):
    """What is no query that the server understands.

    Args:
        line: of the query, from 1.
        reason: what is wrong there.
    """

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: parse error: {reason}")


@dataclass(frozen=True, slots=True)
class TagFilter:
    """A condition on tags: some key that fits has a value that fits, or none has."""

    key: re.Pattern[str]
    value: re.Pattern[str] | None
    """`None` for any."""
    is_met_by: bool = True
    """Whether such a tag has to be there; else it may not."""

    def holds(self, tags: Mapping[str, str]) -> bool:
        """Whether tags meet the condition."""
        fits = any(
            self.key.search(key) and (self.value is None or self.value.search(text))
            for key, text in tags.items()
        )
        return fits == self.is_met_by


@dataclass(frozen=True, slots=True)
class Select:
    """Objects that meet all conditions."""

    kinds: tuple[Kind, ...]
    filters: tuple[TagFilter, ...] = ()
    box: tuple[float, float, float, float] | None = None
    """South, west, north and east."""
    around: tuple[float, float, float] | None = None
    """Metres, latitude and longitude."""
    ids: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Recurse:
    """What the objects of the set so far are made of."""


@dataclass(frozen=True, slots=True)
class Same:
    """The set so far."""


@dataclass(frozen=True, slots=True)
class Union:
    """The objects of all parts."""

    parts: "tuple[Statement, ...]"


@dataclass(frozen=True, slots=True)
class Out:
    """Writes the set so far."""

    level: str = "body"
    geometry: str = ""
    most: int | None = None


Statement = Select | Recurse | Same | Union | Out


@dataclass(frozen=True, slots=True)
class Query:
    """A whole query."""

    statements: tuple[Statement, ...]
    form: Literal["json", "xml"] = "xml"
    timeout_s: int = 180
    box: tuple[float, float, float, float] | None = None
    """Of all its statements."""


def read_query(text: str) -> Query:
    """The query that a text is.

    Raises:
        BadQuery: it is none, or uses what this server does not understand.
    """
    return _QueryReader(text).query()


class _QueryReader:
    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0
        self._box: tuple[float, float, float, float] | None = None

    def query(self) -> Query:
        settings = self._settings()
        statements = []
        while self._kind != "end":
            statements.append(self._statement())
        form = settings.get("out", "xml")
        if form not in {"json", "xml"}:
            raise self._wrong(f"out:{form} is not known here")
        timeout = int(settings.get("timeout", 180))
        return Query(tuple(statements), "json" if form == "json" else "xml", timeout, self._box)

    def _settings(self) -> dict[str, str]:
        found: dict[str, str] = {}
        while self._peek == "[":
            self._take("[")
            name = self._take()
            self._take(":")
            if name == "bbox":
                self._box = self._four()
            else:
                found[name] = self._take()
            self._take("]")
            if self._peek == ";":
                self._take(";")
        return found

    def _statement(self) -> Statement:
        if self._peek == "(":
            self._take("(")
            parts = []
            while self._peek != ")":
                parts.append(self._statement())
            self._take(")")
            self._take(";")
            return Union(tuple(parts))
        word = self._take()
        if word == ".":
            self._take("_")
            self._take(";")
            return Same()
        if word == ">":
            self._take(";")
            return Recurse()
        if word == "out":
            return self._out()
        if word in KINDS:
            return self._select(KINDS[word])
        raise self._wrong(f"Unknown type {word!r}")

    def _out(self) -> Out:
        level, geometry, most = "body", "", None
        while (word := self._take()) != ";":
            if word in LEVELS:
                level = word
            elif word in GEOMETRIES:
                geometry = word
            elif word.isdecimal():
                most = int(word)
            elif word not in {"qt", "asc"}:
                raise self._wrong(f"Invalid parameter for print: {word!r}")
        return Out(level, geometry, most)

    def _select(self, kinds: tuple[Kind, ...]) -> Select:
        filters: list[TagFilter] = []
        box, around, ids = self._box, None, None
        while (sign := self._take()) != ";":
            if sign == "[":
                filters.append(self._tag_filter())
            elif sign != "(":
                raise self._wrong(f"Unexpected {sign!r}")
            elif self._peek == "around":
                around = self._around()
            else:
                numbers = self._numbers()
                if len(numbers) == 4 and any("." in number for number in numbers):
                    box = self._as_box(numbers)
                else:
                    ids = tuple(int(number) for number in numbers)
        return Select(kinds, tuple(filters), box, around, ids)

    def _tag_filter(self) -> TagFilter:
        absent = self._skip("!")
        is_pattern = self._skip("~")
        key = self._pattern(self._take()) if is_pattern else self._exactly(self._take())
        sign = self._take()
        if sign == "]":
            return TagFilter(key, None, not absent)
        if sign in {"=", "!="}:
            found = TagFilter(key, self._exactly(self._take()), sign == "=")
        elif sign in {"~", "!~"}:
            found = TagFilter(key, self._pattern(self._take()), sign == "~")
            if self._skip(","):
                self._take("i")
                value = found.value
                found = TagFilter(key, value and re.compile(value.pattern, re.IGNORECASE), sign == "~")
        else:
            raise self._wrong(f"Unexpected {sign!r}")
        self._take("]")
        return found

    def _around(self) -> tuple[float, float, float]:
        self._take("around")
        self._take(":")
        metres, lat, lng = map(float, self._numbers())
        return metres, lat, lng

    def _numbers(self) -> list[str]:
        """Up to the closing bracket."""
        self._skip("id")
        self._skip(":")
        found = [self._number()]
        while self._skip(","):
            found.append(self._number())
        self._take(")")
        return found

    def _four(self) -> tuple[float, float, float, float]:
        found = [self._number()]
        while self._skip(","):
            found.append(self._number())
        return self._as_box(found)

    def _as_box(self, numbers: list[str]) -> tuple[float, float, float, float]:
        if len(numbers) != 4:
            raise self._wrong("a bbox has four numbers")
        south, west, north, east = map(float, numbers)
        if not (-90 <= south <= north <= 90 and -180 <= west <= east <= 180):
            raise self._wrong("a bbox is south, west, north, east")
        return south, west, north, east

    def _number(self) -> str:
        if self._kind != "number":
            raise self._wrong(f"a number expected, not {self._peek!r}")
        return self._take()

    def _exactly(self, text: str) -> re.Pattern[str]:
        return re.compile(rf"\A{re.escape(text)}\Z")

    def _pattern(self, text: str) -> re.Pattern[str]:
        try:
            return re.compile(text)
        except re.error:
            raise self._wrong(f"Invalid regular expression: {text!r}") from None

    @property
    def _kind(self) -> str:
        return self._tokens[self._at][0]

    @property
    def _peek(self) -> str:
        return self._tokens[self._at][1]

    def _skip(self, text: str) -> bool:
        if self._peek != text:
            return False
        self._at += 1
        return True

    def _take(self, text: str | None = None) -> str:
        kind, found, _ = self._tokens[self._at]
        if kind == "end" or (text is not None and found != text):
            raise self._wrong(f"'{text or 'more'}' expected, not {found!r}")
        self._at += 1
        return found

    def _wrong(self, reason: str) -> BadQuery:
        return BadQuery(self._tokens[min(self._at, len(self._tokens) - 1)][2], reason)


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    """Kind, text and line of each token; the last one is the end."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    at = 0
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        line = text.count("\n", 0, at) + 1
        if not found:
            raise BadQuery(line, f"Unexpected {text[at:].lstrip()[:1]!r}")
        kind, word = str(found.lastgroup), found[found.lastgroup or 0]
        yield kind, _unquoted(word) if kind == "text" else word, line
        at = found.end()
    yield "end", "", text.count("\n") + 1


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1])

"""Finds the regular expressions of the code, and texts that make slow ones slow."""

import ast
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

CALLS = {"sub", "subn", "match", "fullmatch", "search", "split", "findall", "finditer"}
FLAGS = {
    "IGNORECASE": re.IGNORECASE,
    "DOTALL": re.DOTALL,
    "MULTILINE": re.MULTILINE,
    "ASCII": re.ASCII,
    "VERBOSE": re.VERBOSE,
}


@dataclass(frozen=True)
class UsedPattern:
    """A pattern, and the methods that are called on it."""

    place: str
    pattern: "re.Pattern[str]"
    methods: tuple[str, ...]

    def apply(self, text: str) -> None:
        """Use it on a text in all its ways."""
        for method in self.methods:
            if method in {"sub", "subn"}:
                self.pattern.sub("", text)
            elif method == "finditer":
                for _ in self.pattern.finditer(text):
                    pass
            else:
                getattr(self.pattern, method)(text)


def patterns_in(root: Path, *packages: str) -> list[UsedPattern]:
    """Every pattern that is written in the packages as a literal, or kept in a module."""
    sources = {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for package in packages
        for path in sorted((root / package).rglob("*.py"))
    }
    everything = "\n".join(sources.values())
    found = []
    for name, source in sources.items():
        for line, method, text, flags in _written(ast.parse(source)):
            found.append(UsedPattern(f"{name}:{line}", re.compile(text, flags), (method,)))
        for key, pattern in _kept(name).items() if "re.compile" in source else ():
            where = source if key.startswith("_") else everything
            methods = {each for each in CALLS if f"{key}.{each}(" in where} or {"match", "fullmatch"}
            found.append(UsedPattern(f"{name}:{key}", pattern, tuple(sorted(methods))))
    return found


def attacks(pattern: "re.Pattern[str]", length: int) -> Iterator[str]:
    """Texts of some length that a pattern nearly matches, over and over."""
    parsed = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
    letters = sorted(_letters(parsed))[:12]
    words = sorted(_words(parsed), key=len, reverse=True)[:12]
    units = [*letters, *(a + b for a in letters for b in letters if a != b)]
    units += [word + gap for word in words for gap in ("", " ", "a ")]
    for unit in units:
        yield unit * (length // len(unit)) + "\x01"
    for first in letters:
        for rest in letters:
            yield first + rest * length + "\x01"


def _written(tree: ast.AST) -> Iterator[tuple[int, str, str, int]]:
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        of_re = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
        text = node.args[0]
        if (
            of_re
            and node.func.attr in CALLS
            and isinstance(text, ast.Constant)
            and isinstance(text.value, str)
        ):
            named = [
                part.attr for each in ast.walk(node) for part in [each] if isinstance(part, ast.Attribute)
            ]
            yield (
                node.lineno,
                node.func.attr,
                text.value,
                sum({FLAGS[name] for name in named if name in FLAGS}),
            )


def _kept(name: str) -> dict[str, "re.Pattern[str]"]:
    module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    if module.endswith("__main__"):
        return {}
    try:
        values = vars(importlib.import_module(module))
    except Exception as fault:  # noqa: BLE001 - an extra that is not installed
        print(f"{module}: {fault}")
        return {}
    return {
        key: value
        for key, value in values.items()
        if isinstance(value, re.Pattern) and isinstance(value.pattern, str)
    }


def _words(parsed: Any) -> set[str]:
    """The words that a pattern spells out."""
    found: set[str] = set()
    word = ""
    for code, value in [*parsed, (None, None)]:
        if code is codes.LITERAL:
            word += chr(value)
            continue
        found, word = found | ({word} if len(word) > 1 else set()), ""
        for inner in _inside(code, value):
            found |= _words(inner)
    return found


def _inside(code: Any, value: Any) -> list[Any]:
    if code in {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}:
        return [value[2]]
    if code is codes.SUBPATTERN:
        return [value[3]]
    if code is codes.BRANCH:
        return list(value[1])
    if code in {codes.ASSERT, codes.ASSERT_NOT}:
        return [value[1]]
    return [value] if code is codes.ATOMIC_GROUP else []


def _letters(parsed: Any) -> set[str]:
    """A few characters that the parts of a pattern match."""
    found: set[str] = set()
    for code, value in parsed:
        if code is codes.LITERAL:
            found.add(chr(value))
        elif code is codes.NOT_LITERAL or code is codes.ANY:
            found |= {"a", " "}
        elif code is codes.IN:
            found |= _of_class(value)
        elif code in {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}:
            found |= _letters(value[2])
        elif code is codes.SUBPATTERN:
            found |= _letters(value[3])
        elif code is codes.ATOMIC_GROUP:
            found |= _letters(value)
        elif code is codes.BRANCH:
            for branch in value[1]:
                found |= set(sorted(_letters(branch))[:3])
        elif code in {codes.ASSERT, codes.ASSERT_NOT}:
            found |= _letters(value[1])
    return found


CATEGORIES = {"CATEGORY_DIGIT": "1", "CATEGORY_SPACE": " \n", "CATEGORY_WORD": "a1",
              "CATEGORY_NOT_DIGIT": "a ", "CATEGORY_NOT_SPACE": "a-", "CATEGORY_NOT_WORD": " -"}  # fmt: skip


def _of_class(members: Any) -> set[str]:
    found: set[str] = set()
    negated = False
    for code, value in members:
        if code is codes.NEGATE:
            negated = True
        elif code is codes.LITERAL:
            found.add(chr(value))
        elif code is codes.RANGE:
            found.add(chr(value[0]))
        elif code is codes.CATEGORY:
            found |= set(CATEGORIES[str(value)])
    return {"a", " ", "1"} - found if negated else set(sorted(found)[:4])

"""Compares two recordings: words of refusals and fields set apart are told separately from the rest."""

import json
from itertools import zip_longest
from pathlib import Path
from typing import Any

APART = {"end": ("outcome",), "result": ("outcome",), "step": ("tools",), "note": ("tool",)}
"""Fields that later versions add, by the kind of the journal's record that holds them; `result` is that of an
end record and of `result.json`."""
WORDS = "words: "
"""Begins a line that holds what a user reads of a refusal."""
SHOWN = 600  # characters of a line


def compare(before: Path, after: Path, only: str = "", name: str = "") -> int:
    """Print what differs between two recordings.

    Returns:
        The number of files that differ, in words or otherwise.
    """
    folders = (before / only, after / only)
    files = sorted({file.relative_to(one) for one in folders for file in one.rglob("*") if file.is_file()})
    chosen = [file for file in files if name in str(file)]
    if not chosen:
        raise SystemExit(f"no recorded files in {folders[0]} or {folders[1]}")
    real, words, apart = list[str](), list[str](), list[str]()
    for file in chosen:
        one, other = (folder / file for folder in folders)
        if not one.is_file() or not other.is_file():
            real.append(f"{file}: only in {folders[other.is_file()]}")
            continue
        one_parts, other_parts = _parts(one), _parts(other)
        for found, was, became in zip((real, words, apart), one_parts, other_parts, strict=True):
            if fault := _first_difference(was, became):
                found.append(f"{file}: {fault}")
    for title, found in (
        ("differences", real),
        ("words of refusals", words),
        ("set apart (no fault)", apart),
    ):
        if found:
            print(f"{title}: {len(found)} files\n" + "\n".join(found) + "\n")
    print(f"{len(chosen)} files compared: {len(real)} differ, {len(words)} in words of refusals")
    return len(real) + len(words)


def _parts(file: Path) -> tuple[list[str], list[str], list[str]]:
    """Return what must be the same, the words of refusals, and what is set apart, as lines."""
    text = file.read_text()
    if file.suffix == ".txt":
        lines = text.splitlines()
        return (
            ["words" if line.startswith(WORDS) else line for line in lines],
            [line for line in lines if line.startswith(WORDS)],
            [],
        )
    apart: list[str] = []
    records = (
        map(json.loads, text.splitlines()) if file.suffix == ".jsonl" else [{"result": json.loads(text)}]
    )
    kept = [json.dumps(_without(one, apart), indent=1, ensure_ascii=False) for one in records]
    return "\n".join(kept).splitlines(), [], apart


def _without(record: Any, apart: list[str]) -> Any:
    """Return a record without the fields that are set apart, which are added to the list."""
    if not isinstance(record, dict):
        return record
    taken = APART.get(str(record.get("kind", "")), ())
    apart += [json.dumps({name: record[name]}) for name in taken if name in record]
    kept = {name: one for name, one in record.items() if name not in taken}
    if isinstance(result := kept.get("result"), dict):
        apart += [json.dumps({name: result[name]}) for name in APART["result"] if name in result]
        kept["result"] = {name: one for name, one in result.items() if name not in APART["result"]}
    return kept


def _first_difference(before: list[str], after: list[str]) -> str:
    pairs = list(zip_longest(before, after, fillvalue="(nothing)"))
    differing = [number for number, (one, other) in enumerate(pairs) if one != other]
    if not differing:
        return ""
    first = differing[0]
    head = next((line for line in reversed(before[:first]) if line.startswith("== ")), "")
    one, other = (line[:SHOWN] for line in pairs[first])
    return f"{len(differing)} lines differ, first line {first + 1} {head}\n  - {one}\n  + {other}"

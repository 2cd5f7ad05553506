"""What a job has left in its folder, without what may differ after a kill; and whether its sums agree."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FREE = frozenset({"static_metadata", "tiles_metadata", "tiles_session", "tiles_pano_ids"})
FREE |= {"js_script", "js_panorama", "js_view"}
"""Requests without a price; of a page, the panorama object has one."""

_UNTOLD, _OTHER = "something was paid and no result tells of it", "the result says"
COST_FAULTS = (_UNTOLD, _OTHER)
"""How faults of the cost begin."""

_TIMES = frozenset({"seconds", "started", "collected", "id"})
_COSTS = frozenset({"requests", "usd", "interrupted", "cost", "spent", "cached", "llm_cached", "llm_calls"})
_COSTS |= {"input_tokens", "output_tokens", "attempts"}


@dataclass(frozen=True)
class End:
    """How a job ended."""

    content: Any
    """All that must be the same, whatever happened on the way."""
    usd: float = 0.0
    """Dollars, as the result says."""
    sent: Mapping[str, int] = field(default_factory=dict)
    """Requests by endpoint, as the book says."""
    faults: tuple[str, ...] = ()
    """Where sums disagree, and what was left lying about."""


def end_of(folder: Path) -> End:
    """Read the end of any job from its folder."""
    book = _book(folder)
    told = _told_usd(folder)
    faults = [
        f"left behind: {path.relative_to(folder)}"
        for path in folder.rglob("*")
        if path.name.endswith(".part") or ".part" in path.suffixes
    ]
    if book and told is None:
        faults.append(_UNTOLD)
    if told is not None and abs(told - book.usd) > 1e-6:
        faults.append(f"{_OTHER} ${told:.6f}, the book ${book.usd:.6f}")
    return End(_content(folder), told or 0.0, dict(book.sent), tuple(faults))


def differences(whole: End, ended: End) -> list[str]:
    """What differs between two ends, and what is wrong with the second."""
    names = sorted({*whole.content, *ended.content})
    differing = [name for name in names if whole.content.get(name) != ended.content.get(name)]
    faults = [f"differs: {', '.join(differing[:8])}"] if differing else []
    return [*faults, *ended.faults]


def has_failed_episodes(folder: Path) -> bool:
    """Whether a benchmark has ended with episodes that `--resume` tries again."""
    results = folder / "results.json"
    return results.is_file() and bool(json.loads(results.read_text())["failures"])


@dataclass
class _Book:
    usd: float = 0.0
    sent: Counter[str] = field(default_factory=Counter)

    def __bool__(self) -> bool:
        return bool(self.sent)


def _book(folder: Path) -> _Book:
    book = _Book()
    for path in (folder / "spending.jsonl", folder / "work" / "spending.jsonl"):
        if path.is_file():
            for line in path.read_text().splitlines():
                entry = json.loads(line)
                book.usd += entry["micro_usd"] / 1e6
                book.sent[entry["request"]] += entry.get("sent", 0)
    return book


def _told_usd(folder: Path) -> float | None:
    """What the job's own result says that it has cost."""
    if (card := folder / "card.json").is_file():
        return float(json.loads(card.read_text())["usd"])
    if (results := folder / "results.json").is_file():
        spent = json.loads(results.read_text())["spent"].values()
        return sum(float(run["usd"]) for run in spent)
    if (result := folder / "result.json").is_file():
        cost = json.loads(result.read_text())["cost"]
        return float(cost["usd"])
    return None


def _content(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not _is_aside(path):
            found[name] = _read(path)
    return found


def _is_aside(path: Path) -> bool:
    return (
        path.name in (".lock", "spending.jsonl")
        or ".cut-" in path.name
        or (path.suffix in (".html", ".tex", ".csv") and path.name != "objects.csv")
    )


def _read(path: Path) -> Any:
    if path.suffix == ".jsonl":
        rows = [_bare(json.loads(line)) for line in path.read_text().splitlines()]
        if path.name == "records.jsonl":  # episodes end in any order
            done = {row.get("id") for row in rows if row.get("status") != "failed"}
            kept = [row for row in rows if row.get("status") != "failed" or row.get("id") not in done]
            return sorted(kept, key=lambda row: str(row.get("id")))
        return rows
    if path.suffix in (".json", ".geojson"):
        return _bare(json.loads(path.read_text()), keep_id="connectivity" in path.name)
    if path.suffix == ".ics":  # a calendar's entries are named after the run
        return [line for line in path.read_text().splitlines() if not line.startswith(("UID", "DTSTAMP"))]
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _bare(value: Any, *, keep_id: bool = False) -> Any:
    if isinstance(value, dict):
        left_out = _TIMES | _COSTS
        return {
            key: _bare(one, keep_id=keep_id)
            for key, one in value.items()
            if key not in left_out or (key == "id" and not _is_run_id(value))
        }
    return [_bare(one, keep_id=keep_id) for one in value] if isinstance(value, list) else value


def _is_run_id(value: Mapping[str, Any]) -> bool:
    return value.get("kind") == "start"

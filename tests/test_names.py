"""The words of the design name one class each."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
WORDS = {
    "LatLng", "Panorama", "Link", "Pose", "Camera", "View", "StreetView", "Mover", "Step", "Place", "Places",
    "Landmark", "Detection", "Mind", "Senses", "Character", "Provider", "Journal", "Route", "Agent", "Run",
    "Episode", "City", "Maps", "Listings",
}  # fmt: skip


@cache
def statements() -> list[tuple[Path, ast.stmt]]:
    """All top-level statements of the project, each with its file."""
    return [
        (file.relative_to(ROOT), statement)
        for folder in ("virl", "benchmarks", "agents")
        for file in sorted((ROOT / folder).rglob("*.py"))
        for statement in ast.parse(file.read_text(encoding="utf-8")).body
    ]


def files_of_classes() -> dict[str, list[str]]:
    """Return, by the name of a class, the file of each class that has it."""
    found = defaultdict(list)
    for file, statement in statements():
        if isinstance(statement, ast.ClassDef):
            found[statement.name].append(str(file))
    return found


def test_a_word_of_the_design_names_one_class() -> None:
    found = files_of_classes()
    assert {word: found[word] for word in WORDS if len(found[word]) != 1} == {}


def test_a_word_of_the_design_names_no_alias() -> None:
    aliases = [
        f"{file}:{statement.lineno}: {target.id}"
        for file, statement in statements()
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name) and target.id in WORDS
    ]
    assert aliases == []

"""A name says one thing: words of the design name one class each, others at most two, in two packages."""

import ast
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
WORDS = {
    "LatLng", "Panorama", "Link", "Pose", "Camera", "View", "StreetView", "Mover", "Step", "Place", "Places",
    "Landmark", "Detection", "Mind", "Senses", "Character", "Provider", "Journal", "Route", "Agent", "Run",
    "Episode", "City", "Maps", "Listings",
}  # fmt: skip
SLOTS = {"Options", "Settings"}  # every folder of a shape has its own
NESTED = {("virl", "platform"), ("virl", "routines")}  # their packages lie a level deeper


@cache
def statements() -> list[tuple[Path, ast.stmt]]:
    """All top-level statements of the project, each with its file."""
    return [
        (file.relative_to(ROOT), statement)
        for folder in ("virl", "benchmarks", "agents")
        for file in sorted((ROOT / folder).rglob("*.py"))
        for statement in ast.parse(file.read_text(encoding="utf-8")).body
    ]


def package(file: Path) -> str:
    """The package that a file belongs to, such as `virl/mind` or `virl/platform/movement`."""
    folders = file.parts[:-1]
    return "/".join(folders[: 3 if folders[:2] in NESTED else 2])


def packages_of_classes() -> dict[str, list[str]]:
    """By the name of a class: the package of each class that has it."""
    found = defaultdict(list)
    for file, statement in statements():
        if isinstance(statement, ast.ClassDef):
            found[statement.name].append(package(file))
    return found


def test_a_word_of_the_design_names_one_class() -> None:
    found = packages_of_classes()
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


def test_no_other_name_serves_three_classes() -> None:
    found = packages_of_classes()
    assert {name: where for name, where in found.items() if len(where) > 2 and name not in SLOTS} == {}


def test_no_public_name_serves_two_classes_of_a_package() -> None:
    twice = {
        name: sorted({place for place, count in Counter(where).items() if count > 1})
        for name, where in packages_of_classes().items()
        if not name.startswith("_") and name not in SLOTS
    }
    assert {name: where for name, where in twice.items() if where} == {}

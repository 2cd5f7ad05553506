"""A name says one thing: words of the design name one class each, other names at most two far apart."""

import ast
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
# fmt: off
WORDS = frozenset({
    "LatLng", "Panorama", "Link", "Pose", "Camera", "View", "StreetView", "Mover", "Step", "Place", "Landmark",
    "Detection", "Mind", "Senses", "Character", "Provider", "Journal", "Route", "Agent", "Run", "Episode",
    "City", "Places", "Maps", "Listings",
})
# fmt: on
SLOTS = frozenset({"Options", "Settings"})  # every folder of a shape has its own
NESTED = {("virl", "platform"), ("virl", "routines")}  # their packages lie a level deeper


def package(file: Path) -> str:
    """The package that a file belongs to, such as `virl/mind` or `virl/platform/movement`."""
    folders = file.relative_to(ROOT).parts[:-1]
    return "/".join(folders[: 3 if folders[:2] in NESTED else 2])


def classes() -> dict[str, list[str]]:
    """The packages in which top-level classes are defined, by the classes' names."""
    found = defaultdict(list)
    for folder in ("virl", "benchmarks", "agents"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.parse(file.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef):
                    found[node.name].append(package(file))
    return found


def aliases() -> dict[str, list[str]]:
    """The files in which words of the design are given to something else than a class, by the words."""
    found = defaultdict(list)
    for folder in ("virl", "benchmarks", "agents"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.parse(file.read_text(encoding="utf-8")).body:
                targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
                for target in targets:
                    if isinstance(target, ast.Name) and target.id in WORDS:
                        found[target.id].append(str(file.relative_to(ROOT)))
    return found


def test_a_word_of_the_design_names_one_class() -> None:
    found = classes()
    assert {word: found[word] for word in WORDS if len(found[word]) != 1} == {}
    assert aliases() == {}


def test_no_other_name_serves_three_classes() -> None:
    found = classes()
    assert {name: where for name, where in found.items() if len(where) > 2 and name not in SLOTS} == {}


def test_no_public_name_serves_two_classes_of_a_package() -> None:
    twice = {
        name: [place for place, count in Counter(where).items() if count > 1]
        for name, where in classes().items()
        if not name.startswith("_") and name not in SLOTS
    }
    assert {name: places for name, places in twice.items() if places} == {}

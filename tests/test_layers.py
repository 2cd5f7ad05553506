"""The layers: one list in `pyproject.toml`, shown in CONTRIBUTING.md, that names every package."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PARTS = {"authoring", "metrics", "movers", "navigators", "perception", "prompting", "providers"}
"""Public modules, which hold nothing but names of other modules."""
MOST_IN_MIND = 22


def contract() -> list[list[str]]:
    """The modules of each layer, the highest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [re.split(r"\s*[|:]\s*", layer) for layer in layers]


def test_contributing_shows_the_layers_of_the_contract():
    shown = subprocess.run(
        [sys.executable, ROOT / ".ci/layers.py"], capture_output=True, text=True, check=False
    )
    assert shown.returncode == 0, shown.stdout


def test_the_list_of_layers_is_short_and_names_packages_and_root_modules_only():
    assert len(contract()) <= 24
    names = [name for layer in contract() for name in layer]
    assert all((ROOT / name.replace(".", "/")).is_dir() or name.count(".") == 1 for name in names)


def test_every_package_and_ground_module_has_a_layer():
    named = {name for layer in contract() for name in layer}
    packages = {
        f"virl.{path.parent.name}"
        for path in (ROOT / "virl").glob("*/__init__.py")
        if path.parent.name != "platform"
    } | {f"virl.platform.{path.parent.name}" for path in (ROOT / "virl" / "platform").glob("*/__init__.py")}
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for folder in (ROOT / "virl", ROOT / "virl" / "platform")
        for path in folder.glob("*.py")
        if not path.stem.startswith("__")
    }
    assert packages | modules | {"agents", "benchmarks"} == named


def test_few_modules_stand_directly_in_virl():
    modules = {path.stem for path in (ROOT / "virl").glob("*.py")} - {"__init__", "__main__"}
    assert modules >= PARTS
    assert len(PARTS) <= 8
    assert len(modules - PARTS) <= 11


def test_the_mind_holds_what_asks_caches_counts_and_checks_and_no_more():
    assert len(list((ROOT / "virl" / "mind").glob("*.py"))) <= MOST_IN_MIND

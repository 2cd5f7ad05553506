"""What the package imports is declared: what another package brought along goes when that one changes."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]
UNLIKE = {
    "open_clip": "open-clip-torch"
}  # not installed in every environment, so no metadata names its distribution
# The user names these, or installs them by hand as the message says.
LATE = {"langchain-anthropic", "langchain-google-genai"}


def _named(requirement: str) -> str:
    return re.split(r"[<>=\[;! ]", requirement)[0].lower().replace("_", "-")


def _declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = (extra for name, extra in project["optional-dependencies"].items() if name != "dev")
    return {_named(each) for group in (project["dependencies"], *extras) for each in group} | LATE


def _imported(file: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"virl", "benchmarks", "agents"}


def test_every_import_is_a_declared_dependency() -> None:
    declared, installed = _declared(), packages_distributions()
    undeclared = {}
    for file in sorted((ROOT / "virl").rglob("*.py")):
        for name in _imported(file):
            owners = {_named(each) for each in installed.get(name, [UNLIKE.get(name, name)])}
            if not owners & declared:
                undeclared[f"{file.relative_to(ROOT)}: {name}"] = owners
    assert not undeclared

"""The table of layers in CONTRIBUTING.md, made from the contract in pyproject.toml; `--write` writes it."""

import ast
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "CONTRIBUTING.md"
START, END = "<!-- layers -->\n", "<!-- /layers -->"


def layers() -> list[list[str]]:
    """Return the modules of each layer of the first contract, the highest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contract = settings["tool"]["importlinter"]["contracts"][0]
    return [re.split(r"\s*[|:]\s*", layer) for layer in contract["layers"]]


def first_line(module: str) -> str:
    """Return the first line of a package's docstring."""
    text = (ROOT / module.replace(".", "/") / "__init__.py").read_text()
    return (ast.get_docstring(ast.parse(text)) or "").split("\n")[0]


def table() -> str:
    """Return the table: a row for each package, and one for the modules directly in `virl/`."""
    rows = ["", "| layer | package | content |", "| --- | --- | --- |"]
    for number, modules in enumerate(layers(), 1):
        packages = [one for one in modules if (ROOT / one.replace(".", "/")).is_dir()]
        rows += [f"| {number} | `{one.replace('.', '/')}/` | {first_line(one)} |" for one in packages]
        if files := [f"`{one.removeprefix('virl.')}`" for one in modules if one not in packages]:
            content = ", ".join(files)
            rows.append(f"| {number} | modules in `virl/` | {content} |")
    return "\n".join([*rows, "", ""])


def main() -> int:
    """Compare the table with CONTRIBUTING.md, or write it there."""
    text = PAGE.read_text()
    before, rest = text.split(START)
    after = rest.split(END)[1]
    wanted = before + START + table() + END + after
    if "--write" in sys.argv:
        PAGE.write_text(wanted)
    elif wanted != text:
        print("CONTRIBUTING.md shows other layers than pyproject.toml: run `python .ci/layers.py --write`")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

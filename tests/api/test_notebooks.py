"""The notebooks of the documentation run from first to last cell, and are kept without outputs."""

import json
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import virl

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))
SHOWN = {"first-walk": 8, "own-agent": 3, "benchmark": 4, "own-town": 5, "compare-models": 4}
"""How many cells show more than text."""
SHORTER = {"[::6]][:10]": "[::6]][:3]", "limit=2,": "limit=1,", "limit=4,": "limit=2,", "steps=15": "steps=4"}
"""What is changed so that a notebook takes seconds: fewer starts, episodes and steps."""


def cells(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs_and_uses_public_names(path: Path) -> None:
    nbformat.validate(nbformat.read(path, as_version=4))
    code = [cell for cell in cells(path) if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    used = {name for cell in code for name in re.findall(r"\bvirl\.(\w+)\(", "".join(cell["source"]))}
    assert used <= set(virl.__all__)
    assert cells(path)[0]["source"][0].startswith("# ")


def test_every_notebook_that_is_shortened_still_has_what_is_changed() -> None:
    everything = "".join(path.read_text(encoding="utf-8") for path in NOTEBOOKS)
    assert [everything.count(long) for long in SHORTER] == [1] * len(SHORTER)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for long, short in SHORTER.items():
        text = text.replace(long, short)
    book = nbformat.reads(text, as_version=4)
    NotebookClient(book, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [cell.outputs for cell in book.cells if cell.cell_type == "code"]
    rich = sum(any({"image/png", "text/html"} & {*one.get("data", {})} for one in shown) for shown in outputs)
    assert rich == SHOWN[path.stem]
    assert not [one for shown in outputs for one in shown if one.get("name") == "stderr"]

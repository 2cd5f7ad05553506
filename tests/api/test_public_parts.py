"""The public modules, `virl.navigate`, and the pages and notebooks that use no other module."""

import ast
import importlib
import json
import re
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from openai_server import ChatServer, text

import virl
from virl.errors import BadInput

ROOT = Path(__file__).parents[2]
PARTS = ("authoring", "metrics", "movers", "navigators", "perception", "prompting", "providers")
MOST_NAMES = 60


def test_virl_has_few_names() -> None:
    assert len(virl.__all__) <= MOST_NAMES


@pytest.mark.parametrize("part", PARTS)
def test_a_part_holds_names_of_other_modules_and_its_page_lists_them(part: str) -> None:
    statements = ast.parse((ROOT / "virl" / f"{part}.py").read_text(encoding="utf-8")).body
    assert {type(one) for one in statements} == {ast.Expr, ast.ImportFrom, ast.Assign}
    module = importlib.import_module(f"virl.{part}")
    page = (ROOT / "docs" / "reference" / f"virl-{part}.md").read_text(encoding="utf-8")
    assert [name for name in module.__all__ if not re.search(rf"`{name}\b", page)] == []


def sources() -> list[str]:
    page = (ROOT / "docs" / "how-to" / "python.md").read_text(encoding="utf-8")
    books = [json.loads(book.read_text()) for book in (ROOT / "docs" / "notebooks").glob("*.ipynb")]
    cells = [cell for book in books for cell in book["cells"] if cell["cell_type"] == "code"]
    return [page, *("".join(cell["source"]) for cell in cells)]


def test_the_page_and_the_notebooks_import_public_modules_only() -> None:
    used = {name for source in sources() for name in re.findall(r"(?:from|import) (virl[\w.]*)", source)}
    assert used <= {"virl", *(f"virl.{part}" for part in PARTS), "virl.api.langchain"}


def test_directions_are_followed_step_by_step() -> None:
    words = "Walk straight on to the second crossing. Turn left. Stop there."
    town = virl.open_city("virlton")
    walk = virl.navigate("instruction", city=town, start="20 Vine Road", text=words, max_steps=22)
    steps = list(walk)
    assert len(steps) == 23
    assert any(step.choice.reason.endswith("here it goes left") for step in steps)
    there = list(virl.navigate("point", city="virlton", start="20 Vine Road", to=steps[5].panorama.position))
    assert there[-1].pose.pano_id == steps[5].pose.pano_id


@pytest.mark.parametrize(
    ("navigator", "given", "said"),
    [
        ("instruction", {}, "navigator 'instruction' needs text"),
        ("instruction", {"text": "On.", "to": "x"}, "'instruction' takes no to: give it text="),
        ("point", {"text": "On."}, "'point' takes no text"),
        ("piont", {}, "unknown navigator 'piont': did you mean 'point'"),
    ],
)
def test_what_a_navigator_cannot_use_is_refused(navigator: str, given: dict[str, str], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        virl.navigate(navigator, city="virlton", start="20 Vine Road", **given)


def test_a_model_is_asked_about_every_kind_of_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    path = tmp_path / "photo.png"
    PIL.Image.new("RGBA", (40, 30), (9, 9, 9, 255)).save(path)
    pictures = [path, str(path), PIL.Image.open(path), np.zeros((30, 4000)), np.zeros((1, 1), np.uint8)]
    with ChatServer([text("A shop.")] * 2) as server:
        monkeypatch.setenv("VIRL_BASE_URL", server.url)
        assert virl.ask("What?", mind="openai:gpt-4o", images=pictures) == "A shop."
        assert virl.ask("And this?", mind="openai:gpt-4o", images=path) == "A shop."
        sent = [json.dumps(request.messages).count("data:image/") for request in server.requests]
    assert sent == [len(pictures), 1]
    for wrong in (
        None,
        b"abc",
        np.zeros((4, 4), np.uint16),
        np.full((4, 4), 2.0),
        np.zeros((0, 4, 3), np.uint8),
    ):
        with pytest.raises(virl.VirlError, match="picture"):
            virl.ask("What?", mind="rules", images=[wrong])  # type: ignore[list-item]

"""`virl cache`: sizes by kind, and what `--empty` deletes."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from virl.cli.doctor import KINDS
from virl.cli.main import app

SOURCE = Path(__file__).parents[2] / "virl"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path))
    for name, size in (("views", 2_000_000), ("replies", 500), ("own", 7)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(b"x" * size)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "typed", "code", "words", "left"),
    [
        ([], "", 0, "views    2.0 MB", {"views", "replies", "own"}),
        (["--json"], "", 0, '"replies": 500', {"views", "replies", "own"}),
        (["--empty"], "n\n", 0, "nothing was deleted", {"views", "replies", "own"}),
        (["--empty"], "", 2, "add --yes", {"views", "replies", "own"}),
        (["--empty"], "y\n", 0, "emptied", {"own"}),
        (["views", "--empty", "--yes"], "", 0, "emptied", {"replies", "own"}),
        (["veiws", "--empty", "--yes"], "", 2, "views", {"views", "replies", "own"}),
    ],
)
def test_the_cache_is_shown_and_emptied(
    home: Path, arguments: list[str], typed: str, code: int, words: str, left: set[str]
) -> None:
    done = CliRunner().invoke(app, ["cache", *arguments], input=typed)
    assert done.exit_code == code, done.output
    assert words in done.output
    assert {path.name for path in home.iterdir()} == left


def test_every_store_is_a_kind() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    stores = set(re.findall(r'(?:Byte|Array)Store\("([a-z-]+)"', code))
    stores |= set(re.findall(r'cache_home\(\) / "([a-z-]+)"', code))
    assert len(stores) > 8
    assert stores <= KINDS.keys()

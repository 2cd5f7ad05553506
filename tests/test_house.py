"""The rules of the root folder and of imports."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = {"virl", "agents", "prompts", "platform", "benchmarks", "tests", "docs"}


@pytest.mark.skipif(
    not (ROOT / ".git").exists(), reason="no checkout: what belongs to the project is not known"
)
def test_the_root_holds_these_folders_and_no_others() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    folders = {name.split("/")[0] for name in listed if "/" in name}
    assert {name for name in folders if not name.startswith(".")} == FOLDERS


@pytest.mark.parametrize(
    "code", ["import platform; print(platform.system())", "import uuid; print(uuid.uuid4())"]
)
def test_the_platform_folder_does_not_shadow_the_standard_library(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert not list((ROOT / "platform").rglob("*.py"))


def test_the_library_starts_light() -> None:
    code = "import sys, virl.cli.main; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {"torch", "langchain", "openai", "onnxruntime", "rapidocr", "numba", "cv2", "selenium", "ray"}
    assert heavy.isdisjoint(loaded)

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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "unused"),
    [
        ("virl.cli.main", {"numpy", "scipy", "shapely", "pydantic", "yaml", "jinja2", "PIL", "numba", "cv2"}),
        ("virl.agent.start", {"virl.platform.movers.web"}),
    ],
)
def test_no_module_is_imported_that_is_not_used(module: str, unused: set[str]) -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", f"import sys, {module}; print(*sys.modules)"],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    heavy = {"torch", "langchain", "openai", "onnxruntime", "rapidocr", "selenium", "ray"}
    assert (heavy | unused).isdisjoint(loaded)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "most", "unused"),
    [
        (["--help"], 470, {"numpy", "pydantic", "yaml"}),
        (["agents"], 670, {"scipy", "PIL", "jinja2", "cv2", "numba", "httpx", "virl.agent.assembly"}),
        (
            ["doctor"],
            1650,
            {
                "numba",
                "networkx",
                "osmium",
                "virl.doctor.open_services",
                "virl.platform.navigators.intention",
            },
        ),
    ],
)
def test_a_command_loads_no_more_than_it_needs(
    arguments: list[str], most: int, unused: set[str], tmp_path: Path
) -> None:
    code = (
        "import sys; from virl.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout.splitlines()[-1].split()  # fmt: skip
    assert unused.isdisjoint(loaded)
    assert len(loaded) <= most

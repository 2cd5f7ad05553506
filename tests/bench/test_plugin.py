"""The package of docs/how-to/extending.md: built, installed, and used from the command line."""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent.parent / "docs/how-to/extending.md"
Virl = Callable[..., "subprocess.CompletedProcess[str]"]


def files_of_the_page() -> dict[str, str]:
    found = re.findall(r"^`([\w./-]+)`:\n\n```\w+\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return dict(found)


def build_wheel(folder: Path, files: dict[str, str]) -> Path:
    """A wheel of the package, as its pyproject.toml describes it."""
    project = tomllib.loads(files["pyproject.toml"])["project"]
    stem = f"{project['name'].replace('-', '_')}-{project['version']}"
    entries = "".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in names.items())
        for group, names in project["entry-points"].items()
    )
    info = {
        "METADATA": f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "entry_points.txt": entries,
    }
    content = {name: text for name, text in files.items() if name.endswith(".py")}
    content |= {f"{stem}.dist-info/{name}": text for name, text in info.items()}
    content |= {"red_fronts/__init__.py": ""}
    lines = []
    for name, text in content.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(text.encode())}\n")
    record = f"{stem}.dist-info/RECORD"
    wheel = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in content.items():
            archive.writestr(name, text)
        archive.writestr(record, "".join([*lines, f"{record},,\n"]))
    return wheel


@pytest.fixture(scope="module")
def virl(tmp_path_factory: pytest.TempPathFactory) -> Virl:
    """The command line of an environment in which the package is installed."""
    folder = tmp_path_factory.mktemp("plugin")
    files = files_of_the_page()
    wheel = build_wheel(folder, files)
    (folder / "red-bars.yaml").write_text(files["red-bars.yaml"])
    site = folder / "site"
    install = ["-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", site, wheel]
    subprocess.run([sys.executable, *install], check=True, capture_output=True)

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "virl", *arguments],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(site), "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.slow
def test_a_detector_and_a_benchmark_of_another_package_work_together(virl: Virl, tmp_path: Path) -> None:
    listed = virl("bench", "list")
    assert "find-the-front" in listed.stdout
    assert "What kind of places is looked for." in virl("bench", "list", "find-the-front").stdout
    out = tmp_path / "out"
    options = ["--model", "red-bars.yaml", "--limit", "2", "--workers", "2", "--out", str(out)]
    done = virl("bench", "find-the-front", *options)
    assert done.returncode == 0, done.stderr
    found = json.loads((out / "results.json").read_text())
    counts = found["rows"][0]["episodes"]
    assert (counts["done"], counts["failed"]) == (2, 0)
    records = [json.loads(line) for line in (out / "records.jsonl").read_text().splitlines()]
    assert found["rows"][0]["values"]["found"][0] == sum(one["data"]["found"] for one in records) / 2
    assert len(list(out.glob("episodes/*/front.jpg"))) == 2
    again = virl("bench", "report", str(out))
    assert again.returncode == 0, again.stderr


@pytest.mark.slow
def test_what_a_model_of_the_package_lacks_is_said_before_the_first_episode(
    virl: Virl, tmp_path: Path
) -> None:
    options = ["--model", "no-such-model", "--limit", "1", "--out", str(tmp_path / "out")]
    done = virl("bench", "find-the-front", *options)
    assert done.returncode == 2
    assert done.stderr.startswith("virl: unknown detector 'no-such-model'")
    assert not (tmp_path / "out" / "records.jsonl").read_text()

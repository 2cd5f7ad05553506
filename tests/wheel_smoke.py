"""Build a wheel, install it in an empty environment, and use it where no checkout is in sight.

The wheel is installed as `virl[eyes]`, with this Python and with each of `OTHERS` that the machine has, in CI
with one of them that is dealt; arguments name the versions instead, as in `3.11 3.13`. The package of
docs/how-to/extending.md is installed beside it. With this Python only, the commands of the README and of the
tutorials are run, before that in the core alone too, which walks a street graph, a building and photographs.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import numpy as np
from chaos.jobs import dealt
from doc_commands import DOCS, README, commands
from made_photos import MORNING, write_photo
from made_r2r import write_r2r
from test_docs import blocks
from test_docs_commands import FILES

from virl.geo.globe import LatLng
from virl.platform.city.streetview import Attitude

ROOT = Path(__file__).parent.parent
MIDDLE = "41.2491, -38.7512\n41.2491, -38.7488\n41.2509, -38.7488\n41.2509, -38.7512\n"
"""A region of 200 m in Virlton."""
OTHERS = ("3.12", "3.13")
"""Versions of Python that are tried where they are installed."""
PAGES = (README, *sorted((DOCS / "tutorial").glob("*.md")))
NOT_HERE = r"(git|make|pip|source|export) .*|virl preview .*"
"""Commands of shells and of a checkout, and one of 20 s that loads no more than others."""
STRASBOURG = "virl run hiro --city strasbourg"
"""A command that needs an extra and a network."""
LONG = r"virl (run (ling(?! --resume)|diego|my-hiro)|bench (?!list)).*"
"""Commands that are tried with `--dry-run`."""
NEEDS = {
    r"virl data osm .*|.* --city (helsinki|strasbourg)\b.*": r"pip install 'virl\[osm\]'",
    r"virl watch .*": r"pip install 'virl\[serve\]'",
    r".* (ling|--mind openai:\S+) --resume": "no run of 'ling' to resume|started with 'rules', not 'openai",
    r".* --mind openai:.*": "set OPENAI_API_KEY",
}
"""Commands that end in a plain install with one line, and the extra, key or run that it names."""
EYES = r"pip install 'virl\[eyes\]'"
IN_THE_CORE = {
    r"virl data osm .*": r"pip install 'virl\[osm\]'",
    r"virl (watch|gallery)\b.*": "runs: no such folder",
    r"virl bench exploration .*|virl (new|bench list)\b.*": "",
    r".* --resume": f"{EYES}|no run of '",
    r".* --mind openai:.*": "set OPENAI_API_KEY",
    r"virl (run|check|bench) .*": EYES,
}
"""Commands that end in the core with one line, and what that names; empty for those that work."""
PARTS = ("cv2", "numba", "onnxruntime", "rapidocr")
WALK = """
import virl
street = virl.open_city("street.photos.json").streetview
view = street.view(street.nearest(virl.LatLng(48.0, 7.0)).id, virl.Camera(30.0, 5.0, 90.0, 320, 240))
print(view.pixels.shape, int(view.pixels.std()) > 0)
"""
IN_ORDER = """
import json, os, shlex
for name in [name for name in os.environ if "KEY" in name]:
    del os.environ[name]
from typer.testing import CliRunner
from virl.cli.main import app
for line in json.load(open("commands.json")):
    ended = CliRunner().invoke(app, shlex.split(line)[1:])
    print(json.dumps([line, ended.exit_code, ended.stderr or repr(ended.exception)]))
"""


def run(*command: str | Path, cwd: Path) -> str:
    print("$", *command, flush=True)
    return subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.PIPE, text=True).stdout


def build(source: Path, folder: Path) -> Path:
    """The wheel of a project, put into a folder."""
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, source, cwd=folder)
    (wheel,) = folder.glob(f"{source_name(source)}-*.whl")
    return wheel


def source_name(source: Path) -> str:
    name: str = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"]
    return name


def check_plugin(folder: Path) -> None:
    """Use the example package through the command line, by itself and beside a broken one."""
    python, virl = folder / "venv/bin/python", folder / "venv/bin/virl"
    wheel = build(ROOT / "tests/plugin", folder)
    run(python, "-m", "pip", "install", "--quiet", "--no-index", wheel, cwd=folder)
    lists = {
        "mina": ("agents",),
        "crossville": ("cities",),
        "coloured-signs": ("models",),
        "find-the-sign": ("bench", "list"),
    }
    for name, command in lists.items():
        assert name in run(virl, *command, cwd=folder), command
    run(virl, "run", "mina", "--out", "stroll", cwd=folder)
    result = json.loads((folder / "stroll/result.json").read_text(encoding="utf-8"))
    assert result["answer"] == {"visited": ["Corner Cafe", "Paper Moon"]}, result
    assert (folder / "stroll/report.html").stat().st_size > 0
    run(virl, "bench", "find-the-sign", "--out", "signs", cwd=folder)
    found = json.loads((folder / "signs/results.json").read_text(encoding="utf-8"))
    assert found["rows"][0]["episodes"]["done"] == 4, found["rows"]
    (site,) = folder.glob("venv/lib/python*/site-packages")
    info = site / "ruins-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ruins\nVersion: 1.0\n", encoding="utf-8")
    groups = ("routines", "providers", "models", "benchmarks")
    entries = "".join(f"[virl.{group}]\nbroken = ruins.of:IT\n" for group in groups)
    (info / "entry_points.txt").write_text(entries, encoding="utf-8")
    for name, command in lists.items():
        done = subprocess.run((virl, *command), cwd=folder, check=True, capture_output=True, text=True)
        assert name in done.stdout, command
        assert done.stderr.count("'broken' of ruins cannot be imported") == 1, done.stderr


def check_readme(folder: Path) -> None:
    """Do what the README says of an installed virl."""
    said = README.read_text(encoding="utf-8")
    binaries = folder / "venv/bin"
    for command in ("virl run hiro", "python -m virl run hiro", "virl --install-completion"):
        assert f"`{command}`" in said.replace("\n", " "), command
    for command in ("virl run hiro", "python -m virl run hiro"):
        program, *words = command.split()
        told = run(binaries / program, *words, "--quiet", cwd=folder)
        report = folder / told.strip().removeprefix("report: ")
        for file in ("journal.jsonl", "result.json", "report.html"):
            assert (report.parent / file).stat().st_size > 0, file
    version = run(binaries / "virl", "--version", cwd=folder)
    assert version == run(binaries / "python", "-m", "virl", "--version", cwd=folder), version
    about = run(binaries / "python", "-m", "pip", "show", "--verbose", "virl", cwd=folder)
    for name in ("Homepage", "Documentation", "Issues", "Changelog"):
        assert f"{name}, https://" in about, about


def check_pages(folder: Path, needs: Mapping[str, str]) -> None:
    """Run the commands of the README and of the tutorials, page by page, without keys.

    Args:
        folder: with the environment.
        needs: patterns of commands that end with one line, and what it names.
    """
    for page in PAGES:
        here = folder / page.stem
        shutil.rmtree(here, ignore_errors=True)
        here.mkdir()
        for name, (language, begun) in FILES.get(page.stem, {}).items():
            [text] = [block for block in blocks(page, language) if begun in block]
            (here / name).write_text(text, encoding="utf-8")
        lines = [line for line in (*commands(page), STRASBOURG) if not re.fullmatch(NOT_HERE, line)]
        tried = [f"{one} --dry-run" if re.fullmatch(LONG, one) else one for one in lines]
        (here / "commands.json").write_text(json.dumps(tried), encoding="utf-8")
        for told in run(folder / "venv/bin/python", "-c", IN_ORDER, cwd=here).splitlines():
            line, code, said = json.loads(told)
            need = next((need for pattern, need in needs.items() if re.fullmatch(pattern, line)), "")
            assert code == (2 if need else 0), (line, code, said)
            assert re.search(need, said.splitlines()[-1]), (line, said)


def check_core(wheel: Path, folder: Path) -> None:
    """Use the core without `virl[eyes]`: graphs and photographs are walked, drawing and reading refused."""
    python, virl = folder / "venv/bin/python", folder / "venv/bin/virl"
    run(python, "-m", "pip", "install", "--quiet", "--no-compile", f"{wheel}[photos]", cwd=folder)
    there = f"import virl; from importlib.util import find_spec; print(*filter(find_spec, {PARTS}))"
    assert run(python, "-c", there, cwd=folder).strip() == "", "in the core"
    check_pages(folder, IN_THE_CORE)
    write_r2r(folder / "r2r")
    for name, data in {"touchdown": (), "r2r": ("--data", "r2r")}.items():
        run(
            virl, "bench", name, *data, "--limit", "2", "--agent", "gold", "--out", f"core-{name}", cwd=folder
        )
        found = json.loads((folder / f"core-{name}/results.json").read_text(encoding="utf-8"))
        assert found["rows"][0]["episodes"]["done"] == 2, found["rows"]
    (folder / "street").mkdir()
    noise = np.random.default_rng(0).integers(0, 256, (128, 256, 3), np.uint8)
    for number in range(3):
        place, taken = LatLng(48.0 + number * 1e-4, 7.0), MORNING + timedelta(seconds=5 * number)
        write_photo(folder / f"street/{number}.jpg", noise, place, held=Attitude(0.0), taken=taken)
    run(virl, "import", "photos", "street", "--author", "A", "--licence", "CC-BY-4.0", cwd=folder)
    assert run(python, "-c", WALK, cwd=folder) == "(240, 320, 3) True\n"


def python_of(version: str) -> str | None:
    """Return the interpreter of a version, from the path or from pyenv, or None where none starts."""
    if version == "{}.{}".format(*sys.version_info):
        return sys.executable
    kept = (Path.home() / ".pyenv/versions").glob(f"{version}.*/bin/python")
    for found in filter(None, (shutil.which(f"python{version}"), *map(str, sorted(kept)))):
        if subprocess.run([found, "--version"], capture_output=True, check=False).returncode == 0:
            return found
    return None


def check_wheel(wheel: Path, interpreter: str, folder: Path) -> None:
    """Install the wheel in a new environment of an interpreter, and use it there."""
    run(interpreter, "-m", "venv", folder / "venv", cwd=folder)
    python, virl = folder / "venv/bin/python", folder / "venv/bin/virl"
    run(python, "-m", "pip", "install", "--quiet", "--upgrade", "pip", cwd=folder)
    if interpreter == sys.executable:
        check_core(wheel, folder)
    run(python, "-m", "pip", "install", "--quiet", "--no-compile", f"{wheel}[eyes]", cwd=folder)
    assert "hiro" in run(virl, "agents", cwd=folder)
    assert "virlton" in run(virl, "cities", cwd=folder)
    assert "python" in run(virl, "doctor", cwd=folder).casefold()
    top = "import importlib.metadata as m; print(m.distribution('virl').read_text('RECORD'))"
    files = [line.split(",")[0] for line in run(python, "-c", top, cwd=folder).split("\n") if line]
    names = {file.split("/")[0] for file in files if not file.startswith("..")}
    assert {name for name in names if not name.endswith(".dist-info")} == {"virl"}, names
    listed = {line.split()[0] for line in run(virl, "bench", "list", cwd=folder).split("\n") if line.split()}
    for path in ROOT.glob("benchmarks/*/definition.py"):
        assert path.parent.name.replace("_", "-") in listed, path
    (folder / "middle.txt").write_text(MIDDLE, encoding="utf-8")
    where = ("--city", "virlton", "--region", "middle.txt", "--out", "sets/virlton")
    run(virl, "collect", "places", *where, cwd=folder)
    run(virl, "collect", "routes", *where, "--count", "1", cwd=folder)
    asked = ("--model", "oracle", "--data", "sets", "--limit", "1", "--out", "walk")
    run(virl, "bench", "vln", *asked, cwd=folder)
    found = json.loads((folder / "walk" / "results.json").read_text(encoding="utf-8"))
    assert found["rows"][0]["episodes"]["done"] == 1, found["rows"]
    page = "import virl.platform.movers as m; print(__import__('pathlib').Path(m.__file__).parent)"
    folder_of_page = Path(run(python, "-c", page, cwd=folder).strip()) / "web_page"
    assert (folder_of_page / "page.js").stat().st_size > 0, "the page of the web mover"
    where = run(python, "-c", "import virl; print(virl.__file__)", cwd=folder)
    assert str(folder) in where, where
    check_readme(folder)
    if interpreter == sys.executable:
        check_pages(folder, NEEDS)
    check_plugin(folder)


def main(*asked: str) -> None:
    """Check the wheel with each version of Python that is asked for, or that is there."""
    others = (dealt(OTHERS),) if os.environ.get("CI") else OTHERS
    versions = asked or ("{}.{}".format(*sys.version_info), *others)
    with tempfile.TemporaryDirectory() as name:
        wheel = build(ROOT, Path(name))
        for version in dict.fromkeys(versions):
            interpreter = python_of(version)
            if interpreter is None:
                print(f"Python {version} is not on this machine: not tried")
                continue
            folder = Path(name) / version
            folder.mkdir()
            check_wheel(wheel, interpreter, folder)
            print(f"the wheel works on Python {version}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

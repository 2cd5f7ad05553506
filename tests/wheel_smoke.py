"""Build a wheel, install it in an empty environment, and use it where no checkout is in sight."""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent


def run(*command: str | Path, cwd: Path) -> str:
    print("$", *command, flush=True)
    return subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT, cwd=folder)
        run(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
        python, virl = folder / "venv/bin/python", folder / "venv/bin/virl"
        run(python, "-m", "pip", "install", "--quiet", "--upgrade", "pip", cwd=folder)
        (wheel,) = folder.glob("virl-*.whl")
        run(python, "-m", "pip", "install", "--quiet", "--no-compile", wheel, cwd=folder)
        assert "hiro" in run(virl, "agents", cwd=folder)
        assert "virlton" in run(virl, "cities", cwd=folder)
        assert "place-vqa" in run(virl, "bench", "list", cwd=folder)
        page = "import virl.platform.movement as m; print(__import__('pathlib').Path(m.__file__).parent)"
        folder_of_page = Path(run(python, "-c", page, cwd=folder).strip()) / "web_page"
        assert (folder_of_page / "page.js").stat().st_size > 0, "the page of the web mover"
        where = run(python, "-c", "import virl; print(virl.__file__)", cwd=folder)
        assert str(folder) in where, where
        run(virl, "run", "hiro", "--out", "lunch", cwd=folder)
        for file in ("journal.jsonl", "result.json", "report.html"):
            assert (folder / "lunch" / file).stat().st_size > 0, file
    print("the wheel works")


if __name__ == "__main__":
    main()

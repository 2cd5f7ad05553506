"""The guard's command line."""

import argparse
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from guard.commands import CHECKOUT, agent_jobs, benchmark_jobs, environment, record_jobs
from guard.compare import compare

PARTS = ("http", "benchmarks", "agents")


def main() -> int:
    """Record or compare; returns the exit status."""
    parser = argparse.ArgumentParser(prog="guard", description="Records and compares what virl does.")
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="record this checkout into a new folder")
    recording.add_argument("folder", type=Path)
    comparing = commands.add_parser("compare", help="compare two recordings; exit status 1 if they differ")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    for one in (recording, comparing):
        one.add_argument("--only", choices=PARTS, default="", help="this part alone")
        one.add_argument(
            "--name", default="", help="only runs, benchmarks or clients whose name contains this"
        )
    given = parser.parse_args()
    if given.command == "compare":
        return int(compare(given.before, given.after, given.only, given.name) > 0)
    for part in [given.only] if given.only else PARTS:
        began = time.monotonic()
        record(part, given.folder / part, given.name)
        print(f"{part}: {time.monotonic() - began:.0f} s", flush=True)
    return 0


def record(part: str, folder: Path, name: str) -> None:
    """Record a part of what virl does."""
    if part == "http":
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "guard.clients", str(folder.absolute()), name]
        with TemporaryDirectory() as scratch:
            variables = environment(Path(scratch)) | {"PYTHONPATH": str(CHECKOUT / "tests")}
            subprocess.run(command, cwd=CHECKOUT, env=variables, check=True)
        return
    jobs = agent_jobs() if part == "agents" else benchmark_jobs()
    record_jobs([job for job in jobs if name in job.name], folder)


if __name__ == "__main__":
    sys.exit(main())

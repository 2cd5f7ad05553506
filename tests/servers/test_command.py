"""The command lines of the stand-ins."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from doc_commands import serving

ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
SEEDED = "--port 0 --seed 3 --fault 429:0.5 --retry-after 1 --latency-ms 1"


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        "panoramax --flat 0.1 --tilt 2 --width 512 --deleted 0.1 --relicensed 0.1",
        "mapillary --flat 0.1 --tilt 2 --width 512 --deleted 0.1 --expired 0.1 --most 9",
        "overpass --remark 0.1 --most-km2 2",
        "nominatim",
        "osrm",
    ],
)
def test_each_serves_until_it_is_interrupted(options: str) -> None:
    done = serving(f"{sys.executable} -m servers.{options} {SEEDED}", ENVIRONMENT)
    assert done.code == 0, done.error
    assert f"Serving {options.split(maxsplit=1)[0]} of virlton at http://" in done.out
    assert done.error == ""


@pytest.mark.slow
def test_a_fault_of_the_command_line_is_one_line() -> None:
    command = [sys.executable, "-m", "servers.overpass", "--fault", "9:1"]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "virl: unknown fault '9': use a status from 400 to 599, timeout, garbage or half\n"

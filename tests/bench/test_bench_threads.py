"""Threads that an error leaves at their episodes do not change how the process ends."""

import subprocess
import sys

import pytest

BUSY = """
import atexit, sys, threading, time
from virl.bench.engine.crew import ThreadCrew
from virl.cli.main import main

crew = ThreadCrew(lambda episode: time.sleep(60), 1)
crew.give(0, "an episode")
crew.dismiss()
atexit.register(print, "Python takes itself apart under the thread")
sys.argv = ["virl", "no-such-command"]
main()
"""


@pytest.mark.slow
def test_a_process_with_episodes_left_ends_at_once_with_its_exit_code() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BUSY], capture_output=True, text=True, timeout=50, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "no-such-command" in done.stderr

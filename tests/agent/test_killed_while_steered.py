"""A run that is killed while the user steers it: what they decided stays decided."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from steered import run_of

from virl.journal.journal import read_journal
from virl.journal.records import StepRecord

MOVES = 4
STEERED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from steered import run_of
run = run_of("peng", Path(sys.argv[2]))
run.control.take_over()
run.start()
for number in range(int(sys.argv[3])):
    links = run.decision().links
    run.control.go(links[number % len(links)].pano_id)
run.decision()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_a_steered_run_that_is_killed_goes_on_where_the_user_left_it(tmp_path: Path) -> None:
    folder, tests = tmp_path / "run", Path(__file__).parents[1]
    killed = subprocess.run([sys.executable, "-c", STEERED, str(tests), str(folder), str(MOVES)], check=False)
    assert killed.returncode == -signal.SIGKILL
    before = [one for one in read_journal(folder) if isinstance(one, StepRecord)]
    assert [step.decided_by for step in before] == ["user"] * MOVES
    result = run_of("peng", folder, resume=True).start().end().result
    steps = [one for one in read_journal(folder) if isinstance(one, StepRecord)]
    assert steps[:MOVES] == before
    assert steps[MOVES].pose.pano_id == before[-1].next_pano_id
    assert not any(step.decided_by for step in steps[MOVES:])
    assert result.status == "finished"

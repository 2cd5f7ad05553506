"""The time for which a user holds a run is no time of the run."""

from pathlib import Path
from time import monotonic, sleep

import pytest
from made_run import start_record

from virl.agent.run import Run
from virl.journal.journal import Journal


@pytest.mark.slow
def test_the_time_in_which_a_run_is_held_counts_nowhere(tmp_path: Path) -> None:
    began = monotonic()
    start = start_record()
    with Journal.create(tmp_path / "run", start) as journal:
        run = Run(journal, start)
        with run.held():
            sleep(0.2)
            said = run.note("said", "1", "The user: stay.")
            sleep(0.2)
        later = run.note("other", "1", "Went on.")
    assert min(said.seconds, later.seconds) >= 0
    assert said.seconds + later.seconds <= monotonic() - began - 0.4

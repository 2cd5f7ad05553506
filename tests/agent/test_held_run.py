"""The time for which a user holds a run is no time of the run."""

from pathlib import Path

import pytest
from made_run import start_record

from virl.agent.run import Run
from virl.journal.journal import Journal
from virl.money.ledger import Ledger


def test_the_time_in_which_a_run_is_held_counts_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("virl.agent.run.perf_counter", lambda: now)
    start = start_record()
    with Journal.create(tmp_path / "run", start) as journal:
        run = Run(journal, start, ledger=Ledger())
        now += 1
        with run.pause_clock():
            now += 10
            said = run.note("said", "1", "The user: stay.")
            now += 10
        now += 2
        later = run.note("other", "1", "Went on.")
    assert (said.seconds, later.seconds) == (1, 2)

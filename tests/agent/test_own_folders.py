"""Runs that begin at the same moment take folders of their own."""

import threading
from pathlib import Path

import pytest

from virl.agent.plan import RunOptions
from virl.agent.start import begin
from virl.console import SafeConsole
from virl.errors import VirlError


def test_runs_that_begin_in_the_same_second_take_folders_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folders, faults = list[str](), list[VirlError]()

    def work() -> None:
        try:
            with begin(RunOptions(agent="hiro", decided_by="a test"), SafeConsole(quiet=True)) as agent:
                folders.append(agent.run.folder.name)
        except VirlError as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert len(set(folders)) == 3
    with pytest.raises(VirlError), begin(RunOptions(agent="hiro", city="nowhere"), SafeConsole(quiet=True)):
        pass
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == sorted(folders)

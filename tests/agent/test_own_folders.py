"""Runs that begin at the same moment take folders of their own."""

import subprocess
import sys
import threading
import time
from functools import partial
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

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert len(set(folders)) == 8
    with pytest.raises(VirlError), begin(RunOptions(agent="hiro", city="nowhere"), SafeConsole(quiet=True)):
        pass
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == sorted(folders)


@pytest.mark.slow
def test_processes_that_begin_in_the_same_second_take_folders_of_their_own(tmp_path: Path) -> None:
    code = """
import sys, time
from virl.agent.plan import made_folder
print("ready", flush=True)
time.sleep(max(0.0, float(sys.stdin.readline()) - time.time()))
with made_folder("hiro") as folder:
    (folder / "journal.jsonl").touch()
    print(folder.name)
"""
    begin_one = partial(subprocess.Popen, [sys.executable, "-c", code], cwd=tmp_path, text=True)
    processes = [begin_one(stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(4)]
    assert all(one.stdout.readline() == "ready\n" for one in processes)  # type: ignore[union-attr]
    moment = f"{time.time() + 0.2}\n"
    for one in processes:
        one.stdin.write(moment)  # type: ignore[union-attr]
        one.stdin.flush()  # type: ignore[union-attr]
    names = {one.communicate()[0] for one in processes}
    assert len(names) == 4
    assert [one.returncode for one in processes] == [0] * 4

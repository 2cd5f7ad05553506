"""Odd places for output: other encodings, closed pipes, narrow terminals, Ctrl-C and notebooks."""

import json
import os
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import nbformat
import pytest
from made_characters import write_hiro
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from terminals import VIRL, in_terminal

from virl.resources import cache_home

pytestmark = pytest.mark.slow

RUN = ("run", "peng", "--out", "run")
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def is_whole(run: Path) -> bool:
    """Return whether a run has a report and got to its end."""
    status = json.loads((run / "result.json").read_text(encoding="utf-8"))["status"]
    return (run / "report.html").exists() and status == "finished"


@pytest.mark.parametrize(
    ("environment", "plumbing", "words"),
    [
        ({"PYTHONIOENCODING": "latin-1"}, "--ask < /dev/null", "peng asked for no feedback"),
        (ASCII, "--ask <&- | (exec <&-; sleep 0.1)", ""),
    ],
    ids=["latin-1", "ascii-closed"],
)
def test_a_run_is_whole_whatever_becomes_of_its_output(
    tmp_path: Path, environment: Mapping[str, str], plumbing: str, words: str
) -> None:
    command = f"set -o pipefail; {shlex.join([*VIRL, *RUN])} {plumbing}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env=os.environ | environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert b"virl:" not in done.stderr
    assert words in done.stdout.decode("latin-1")
    assert is_whole(tmp_path / "run")


@pytest.mark.parametrize("words", ["--help", "run --help"])
def test_help_that_nobody_reads_to_its_end_is_no_failure(words: str) -> None:
    command = f"set -o pipefail; {shlex.join(VIRL)} {words} | true"
    assert subprocess.run(["bash", "-c", command], check=False).returncode == 0


@pytest.mark.parametrize(
    ("words", "whole"),
    [
        ((), "virl new NAME"),
        (("cities",), "helsinki-panoramax"),
        (("agents",), "rx399"),
        (RUN, "report: run/report.html"),
        (("check", "no-such-file-with-a-name-of-over-forty-letters"), "-with-a-name-of-over-"),
    ],
    ids=["virl", "cities", "agents", "run", "check"],
)
def test_forty_columns_break_no_word(tmp_path: Path, words: tuple[str, ...], whole: str) -> None:
    code, received = in_terminal(tmp_path, *words, columns=40, VIRL_CACHE=str(cache_home()))
    lines = _screen(received)
    assert code == (2 if whole.startswith("-") else 0)
    assert whole in "\n".join(lines)
    assert max(len(line) for line in lines if whole not in line) <= 40


def _screen(received: str) -> list[str]:
    """Return the lines that stay on a screen, without looks and without the bar."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", received)
    return [line.rpartition("\r")[2].rstrip() for line in plain.replace("\r\n", "\n").split("\n")]


def test_after_ctrl_c_the_command_that_is_printed_goes_on(tmp_path: Path) -> None:
    words = ("run", "rx399", "--out", "run")  # looks around at each step: its end is seconds away
    heed = ("env", "--default-signal=INT")  # a shell's background jobs ignore it
    with subprocess.Popen([*heed, *VIRL, *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        journal, limit = tmp_path / "run" / "journal.jsonl", time.monotonic() + 60
        while not (journal.exists() and journal.read_bytes().count(b"\n")):
            assert time.monotonic() < limit
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    (command,) = re.findall(r"virl: stopped: go on with `virl (.*)`\n", told)
    assert command == f"{shlex.join(words)} --resume"
    subprocess.run([*VIRL, *shlex.split(command)], cwd=tmp_path, check=True, capture_output=True)
    assert is_whole(tmp_path / "run")


def test_a_notebook_shows_what_is_printed_and_how_to_go_on_when_it_is_stopped(tmp_path: Path) -> None:
    write_hiro(tmp_path, steps=1)
    code = (
        "import virl\nwith virl.open_agent('hiro-copy.yaml', out='run') as agent:\n"
        "    print('inside')\n    raise KeyboardInterrupt"
    )
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    with pytest.raises(CellExecutionError, match=r"same call and out='run', resume=True"):
        NotebookClient(book, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert book.cells[0].outputs[0]["text"] == "inside\n"

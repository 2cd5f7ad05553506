"""The help of each command, 100 columns wide; `python tests/cli/test_help.py` writes it anew."""

import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from virl.bench.benchmark import benchmark_names
from virl.cli.main import app

SHOWN = Path(__file__).with_name("help")
COLUMNS = "100"


@cache
def commands() -> list[tuple[str, ...]]:
    """The words of every command, the empty ones of `virl` itself among them."""

    def within(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        yield words
        if hasattr(command, "list_commands"):
            context = command.context_class(command)
            for name in command.list_commands(context):
                yield from within(command.get_command(context, name), (*words, name))

    return list(within(typer.main.get_command(app), ()))


def printed(words: tuple[str, ...]) -> str:
    done = CliRunner().invoke(app, [*words, "--help"], prog_name="virl")
    assert done.exit_code == 0, done.output
    return "\n".join(line.rstrip() for line in done.output.strip().splitlines()) + "\n"


def file_of(words: tuple[str, ...]) -> Path:
    return SHOWN / ("-".join(("virl", *words)) + ".txt")


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", COLUMNS)
    for name in ("FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("file", sorted(SHOWN.iterdir()), ids=lambda file: file.stem)
def test_the_help_of_each_command_is_as_it_was_read(file: Path) -> None:
    words = {file_of(words): words for words in commands()}[file]
    assert printed(words) == file.read_text(encoding="utf-8")


def test_the_help_of_every_command_was_read() -> None:
    assert set(SHOWN.iterdir()) == set(map(file_of, commands()))


def test_a_benchmark_is_listed_by_its_name() -> None:
    lines = printed(("bench",)).splitlines()
    assert all(any(line.startswith(f"│ {name} ") for line in lines) for name in benchmark_names())


if __name__ == "__main__":
    os.environ["COLUMNS"] = COLUMNS
    SHOWN.mkdir(exist_ok=True)
    for old in SHOWN.iterdir():
        old.unlink()
    for words in commands():
        file_of(words).write_text(printed(words), encoding="utf-8")
    sys.stdout.write(f"{SHOWN}: {len(commands())} commands\n")

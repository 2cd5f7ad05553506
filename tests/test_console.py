"""What is printed: Rich's own looks, and no character of the world's that steers a terminal."""

import io
import logging
import os
import pty
import re
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import typer
from hostile_texts import TEXTS, hidden_in, hidden_on_terminal
from made_run import keep_made_run
from rich.console import Console
from rich.panel import Panel
from rich.progress import Progress
from rich.table import Table
from rich.text import Text
from typer.testing import CliRunner

from virl.agent.terminal import Story
from virl.cli.guard import guard
from virl.cli.main import app
from virl.console import THEME, SafeConsole, as_markup, echo, echo_json, say, told_if_long
from virl.errors import BadInput
from virl.journal.journal import read_journal
from virl.journal.records import EndRecord, StartRecord, StepRecord
from virl.redaction import RedactingFormatter

ROOT = Path(__file__).parent.parent
HOSTILE = "Bar\x1b]52;c;aGk=\x07\x1b[2J\x9b31m\u202e\U000e0041\x00\x08 one"


def printed(console: Callable[..., Console], tell: Callable[[Console], None]) -> str:
    """What a terminal of 80 columns is sent."""
    file = io.StringIO()
    tell(console(file=file, force_terminal=True, color_system="truecolor", width=80, legacy_windows=False))
    return file.getvalue()


def tell_plainly(console: Console) -> None:
    console.print(
        "[bold]Bold[/] [red]red[/] [link=https://example.org]linked[/link]\n\tmore", "日本語 ❤\ufe0f"
    )
    table = Table("name", "stars")
    table.add_row("Mei", "4.4", style="green")
    console.print(table, Panel("in a box"), Text("styled", style="italic on blue"))
    console.rule("rule")
    with Progress(console=console, auto_refresh=False) as progress:
        progress.update(progress.add_task("walking", total=4), completed=4)


def test_all_that_rich_does_with_plain_text_is_as_it_was() -> None:
    ours, theirs = (
        printed(console, tell_plainly) for console in (SafeConsole, partial(Console, theme=THEME))
    )
    assert _without_link_ids(ours) == _without_link_ids(theirs)
    assert "\x1b[1mBold\x1b[0m" in ours


def _without_link_ids(text: str) -> str:
    return re.sub(r"8;id=[\d-]+;", "", text)


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_nothing_hostile_is_printed(text: str) -> None:
    def tell(console: Console) -> None:
        table = Table(as_markup(text))
        table.add_row(text.replace("[", "\\["), style="bold")
        console.print(as_markup(text), f"[bold]{as_markup(text)}[/]", table, Text(text, style="red"))
        console.print(text, markup=False, style="green")
        with Progress(console=console, auto_refresh=False) as progress:
            progress.update(progress.add_task(as_markup(text), total=4), completed=2)

    assert hidden_on_terminal(printed(SafeConsole, tell)) == []


@pytest.mark.slow
def test_a_story_with_hostile_names_is_told_to_its_end(tmp_path: Path) -> None:
    records = read_journal(keep_made_run(tmp_path, size=64))

    def tell(console: Console, text: str) -> None:
        with Story(console) as story:
            for record in records:
                if isinstance(record, StartRecord):
                    story.start(record.model_copy(update={"character": {"name": text}, "city": text}), ())
                elif isinstance(record, StepRecord):
                    places = [one.model_copy(update={"name": text, "reason": text}) for one in record.places]
                    story.step(record.model_copy(update={"places": tuple(places), "decided": text}))
                elif isinstance(record, EndRecord):
                    story.end(record.result.model_copy(update={"reason": text, "found": {text: 2}}))

    for text in TEXTS:
        told = printed(SafeConsole, partial(tell, text=text))
        assert hidden_on_terminal(told) == []
        assert "model call" in told


def test_a_name_with_colons_is_no_emoji() -> None:
    file = io.StringIO()
    SafeConsole(file=file).print("openai:x: asked", highlight=False, markup=False)
    assert file.getvalue() == "openai:x: asked\n"


def test_a_name_stays_on_its_line() -> None:
    told = printed(SafeConsole, lambda console: console.print(as_markup("Bar\rvirl: well\u2028x\ny")))
    assert told == "Bar virl: well x y\n"


def in_pty(tell: Callable[[Console], None]) -> str:
    """What a terminal receives."""
    near, far = pty.openpty()
    got: list[bytes] = []

    def read() -> None:
        while not (got and b"END" in got[-1]):
            got.append(os.read(near, 65536))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    with open(far, "w", encoding="utf-8", errors="replace") as terminal:  # noqa: PTH123 - a descriptor
        console = SafeConsole(file=terminal, width=100)
        assert console.is_terminal
        tell(console)
        terminal.flush()
        console.print("END")
        reader.join(10)
    os.close(near)
    return b"".join(got).decode()


def test_a_terminal_is_sent_nothing_hostile() -> None:
    def tell(console: Console) -> None:
        for text in TEXTS:
            console.print(text, markup=False)

    received = in_pty(tell)
    assert hidden_on_terminal(received) == []
    assert received.count("Bar") > 20


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_an_error_is_one_plain_line(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise BadInput(f"{text}: mend the file")

    with pytest.raises(typer.Exit):
        guard(fail, debug=False)
    said = capsys.readouterr().err
    assert hidden_in(said) == []
    assert said.count("\n") == 1
    assert said.endswith("end the file\n")


@pytest.mark.parametrize("debug", [False, True])
def test_a_bug_is_told_in_plain_text(debug: bool, capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise RuntimeError(HOSTILE)

    with pytest.raises(typer.Exit) as left:
        guard(fail, debug=debug)
    assert left.value.exit_code == 1
    said = capsys.readouterr().err
    assert hidden_in(said) == []
    assert ("Traceback" in said) == debug
    assert "Bar one" in said


def test_lines_and_json_and_logs_are_plain(capsys: pytest.CaptureFixture[str]) -> None:
    echo(HOSTILE)
    echo_json(f'{{"name":"{HOSTILE}"}}')
    said = capsys.readouterr().out
    assert said.startswith("Bar one\n")
    assert hidden_in(said) == []
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(RedactingFormatter("%(message)s"))
    handler.handle(logging.LogRecord("x", logging.WARNING, "x", 1, "%s", (HOSTILE,), None))
    assert stream.getvalue() == "Bar one\n"


ARGUMENT = HOSTILE.replace("\x00", "")  # no system passes one on


@pytest.mark.parametrize(
    "words",
    [
        (ARGUMENT,),
        ("run", ARGUMENT),
        ("run", "hiro", "--seed", ARGUMENT),
        ("run", "hiro", f"--{ARGUMENT}"),
        ("bench", ARGUMENT),
        ("check", ARGUMENT),
        ("gallery", ARGUMENT),
        ("narrate", ARGUMENT),
        ("data", "export", "touchdown", "--city", ARGUMENT),
    ],
    ids=lambda words: " ".join(words[:-1]) or "command",
)
def test_wrong_arguments_are_told_in_plain_text(words: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 2
    assert hidden_on_terminal(done.output) == []


@pytest.mark.slow
def test_nobody_makes_a_console_of_his_own() -> None:
    """Ruff's TID251 names the other ways past `virl.console`; it cannot tell a call from an annotation."""
    made = []
    for path in (path for name in ("virl", "agents", "benchmarks") for path in (ROOT / name).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        made += [f"{path.name}: {found}" for found in re.findall(r"(?<![\w.])(?:\w+\.)*Console\(.*", text)]
    assert made == []


@pytest.mark.parametrize(("after_s", "quiet", "told"), [(0.01, False, 1), (0.01, True, 0), (60.0, False, 0)])
def test_only_work_that_takes_long_is_told(
    after_s: float, quiet: bool, told: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with told_if_long("reading the town", Console(quiet=quiet), after_s):
        threading.Event().wait(0.2)
    assert capsys.readouterr().err.count("reading the town\n") == told


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("short", ["short"]),
        ("  12  enters [bold]Kita[/]: quiet", ["  12  enters", "      Kita:", "      quiet"]),
        ("see /a/very/long/path now", ["see", "      /a/very/long/path", "      now"]),
        ("寿司 寿司 寿司 寿司", ["寿司 寿司", "      寿司", "      寿司"]),
    ],
)
def test_lines_hang_where_a_terminal_breaks_them(text: str, lines: list[str]) -> None:
    for is_terminal in (True, False):
        file = io.StringIO()
        say(SafeConsole(file=file, width=13, force_terminal=is_terminal, color_system=None), text, 6)
        assert file.getvalue().splitlines() == (lines if is_terminal else [Text.from_markup(text).plain])

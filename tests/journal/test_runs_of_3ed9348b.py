"""Runs made by an earlier version are read and gone on with."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from virl.cli.main import app
from virl.journal.journal import RESULT, Journal, read_journal
from virl.journal.reading import RESUMED
from virl.journal.records import AnyRecord, EndRecord, NoteRecord, Result, StartRecord, StepRecord
from virl.journal.report import REPORT
from virl.money.book import SPENDING
from virl.platform.city.left_out import LEFT_OUT, LeftOut, Omission
from virl.platform.providers.cities import open_city
from virl.serve.city_server import ServedCity
from virl.serve.google.options import ServeOptions
from virl.serve.google.server import serve_city
from virl.version import code_version

RUNS = Path(__file__).parents[1] / "data" / "made-by-3ed9348b" / "runs"
FOLDERS = sorted(folder.name for folder in RUNS.iterdir() if folder.is_dir())


def test_there_are_twelve_small_runs() -> None:
    assert len(FOLDERS) == 12
    for name in FOLDERS:
        assert sum(file.stat().st_size for file in (RUNS / name).rglob("*") if file.is_file()) < 200_000


@pytest.mark.parametrize("name", FOLDERS)
def test_a_run_is_read_and_resumed(name: str, tmp_path: Path) -> None:
    records = read_journal(RUNS / name)
    assert isinstance(records[0], StartRecord)
    is_over = isinstance(records[-1], EndRecord)
    assert is_over == name.endswith(("-finished", "-limited"))
    copy = shutil.copytree(RUNS / name, tmp_path / name)
    journal, resumed = Journal.resume(copy)
    with journal:
        assert resumed == records
        assert journal.next_seq == len(records)
    assert bool(list(copy.glob("journal.jsonl.cut-*"))) == name.endswith("-torn")


@pytest.mark.parametrize("name", FOLDERS)
def test_runs_of_consulted_agents_are_read(name: str) -> None:
    for file in (RUNS / name).glob("consulted/**/journal.jsonl"):
        assert isinstance(read_journal(file)[0], StartRecord)


def lines_of(name: str) -> list[bytes]:
    return (RUNS / name / "journal.jsonl").read_bytes().splitlines(keepends=True)


def cut(name: str, journal: bytes, folder: Path) -> Path:
    """A copy of a run, killed when its journal was `journal`."""
    copy = shutil.copytree(RUNS / name, folder / name)
    (copy / "journal.jsonl").write_bytes(journal)
    if not journal.endswith(lines_of(name)[-1]):
        (copy / RESULT).unlink(missing_ok=True)
    return copy


def resume(folder: Path) -> tuple[Result, str]:
    agent = json.loads((folder / "journal.jsonl").read_bytes().splitlines()[0])["agent"]
    done = CliRunner().invoke(app, ["run", agent, "--resume", "--out", str(folder)])
    assert done.exit_code == 0, f"{done.output}{done.exception!r}"
    assert (folder / REPORT).is_file()
    return Result.model_validate_json((folder / RESULT).read_bytes()), done.output


def questions(records: tuple[AnyRecord, ...]) -> list[str]:
    work = [record for record in records if isinstance(record, StepRecord | NoteRecord)]
    return [json.dumps([one.prompt, one.inputs]) for record in work for one in record.asked]


def check_resumed(folder: Path, kept: bytes) -> None:
    """Resume a run that was cut, and see that what was recorded stays and is not asked again."""
    whole = kept[: kept.rfind(b"\n") + 1]
    result, _ = resume(folder)
    assert (folder / "journal.jsonl").read_bytes().startswith(whole)
    records, old = read_journal(folder), whole.count(b"\n")
    if isinstance(records[old - 1], EndRecord):
        assert len(records) == old
        return
    assert not set(questions(records[:old])) & set(questions(records[old:]))
    noted = records[old]
    assert isinstance(noted, NoteRecord)
    assert noted.topic == RESUMED
    assert [(part.seq, part.virl) for part in result.parts] == [(0, "0.1.0"), (old, code_version())]
    page = (folder / REPORT).read_text()
    # Pictures of a service are no other than before.
    assert ("Views from here on are drawn anew" in page) == ("google" not in folder.name)
    assert f"Made by virl 0.1.0, from record {old} (step {result.parts[1].step}) on" in page


LOCAL = [name for name in FOLDERS if "google" not in name]


def test_a_run_that_was_cut_in_a_line_is_resumed(tmp_path: Path) -> None:
    whole = b"".join(lines_of("aria-finished")[:5])
    folder = cut("aria-finished", whole[:-40], tmp_path)
    LeftOut().keep(kept := folder / LEFT_OUT)
    assert not kept.exists()
    before = LeftOut()
    before.add("Places", "a place has no name", {"id": 1})
    before.keep(kept)
    before.add("Places", "a place has no id", {"id": 2})
    check_resumed(folder, whole[:-40])
    left_out = Result.model_validate_json((folder / RESULT).read_bytes()).left_out
    assert left_out == (Omission("Places", 2, ("a place has no name", "a place has no id")),)


@pytest.mark.parametrize(
    "every", [pytest.param(7, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.soak)]
)
@pytest.mark.parametrize("name", LOCAL)
def test_a_run_is_resumed_at_every_line(name: str, every: int, tmp_path: Path) -> None:
    lines = [line for line in lines_of(name) if line.endswith(b"\n")]
    # Another line of each run, so that the slice meets records of all kinds.
    for number in range(1 + LOCAL.index(name) % min(every, len(lines)), len(lines) + 1, every):
        for torn in (b"", lines[number][:100]) if number < len(lines) and number % 8 == 1 else (b"",):
            kept = b"".join(lines[:number]) + torn
            check_resumed(cut(name, kept, tmp_path / f"{number}{len(torn)}"), kept)


@pytest.fixture
def server() -> Iterator[ServedCity]:
    with serve_city(open_city("virlton"), ServeOptions(lossless=True)) as opened:
        yield opened


@pytest.mark.slow
def test_a_run_on_google_is_resumed_and_pays_nothing_twice(
    server: ServedCity, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", "made-up")
    monkeypatch.chdir(tmp_path)
    city = (RUNS / "served.yaml").read_text().replace("http://127.0.0.1:35849", server.url)
    Path("served.yaml").write_text(city)
    name = "hiro-google-killed"
    book = (RUNS / name / SPENDING).read_bytes()
    views: dict[int, int] = {}
    for number in (2, 1):
        monkeypatch.setenv("VIRL_CACHE", str(tmp_path / f"cache-{number}"))
        kept = b"".join(lines_of(name)[:number])
        folder = cut(name, kept, tmp_path / str(number))
        server.reset()
        check_resumed(folder, kept)
        assert (folder / SPENDING).read_bytes().startswith(book)
        views[number] = server.stats()["requests"]["static_image"]
    assert views[2] < views[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["hiro-finished", "iris-killed", "ling-killed", "otto-finished", "peng-limited", "rx399-limited"]
)
def test_a_run_goes_on_from_the_nearest_panorama_where_its_own_is_gone(name: str, tmp_path: Path) -> None:
    lines = lines_of(name)
    steps = [number for number, line in enumerate(lines) if b'"kind":"step"' in line]
    number = steps[min(4, len(steps) - 2)]
    gone = json.loads(lines[number])["pose"]["pano_id"].encode()
    kept = b"".join(lines[: number + 1]).replace(b'"' + gone + b'"', b'"gone"')
    kept = kept.replace(b'"start":"91 Station Street"', b'"start":"91 Closed Street"')
    result, told = resume(folder := cut(name, kept, tmp_path))
    assert result.steps >= json.loads(lines[number])["step"]
    assert (folder / "journal.jsonl").read_bytes().startswith(kept)
    said = "Panorama 'gone' is gone; the nearest"
    assert said in " ".join(told.split())
    assert said in (folder / REPORT).read_text().replace("&#39;", "'")
    assert said.encode() in (folder / "journal.jsonl").read_bytes()

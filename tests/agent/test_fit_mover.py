"""The mover that the key allows and the links need: chosen, said and kept."""

import io
from pathlib import Path

import pytest
from rich.console import Console
from served_google import MARKER_KEY

from virl.agent.plan import RunOptions
from virl.agent.start import preview_run, run_agent
from virl.errors import BadInput
from virl.journal.journal import read_journal
from virl.journal.records import AccessRecord, StartRecord
from virl.platform.city.city import City
from virl.platform.movers.open_mover import planned_mover
from virl.serve.google.options import ServeOptions, parse_oddities
from virl.serve.google.server import serve_city

PLAIN = ServeOptions()
THIN = ServeOptions(odd=parse_oddities("unlinked:0.6"))
NO_TILES = ServeOptions(denied=("map-tiles",))


@pytest.fixture
def http_city(tmp_path: Path) -> Path:
    file = tmp_path / "over-http.yaml"
    shipped = Path("platform/cities/virlton-http.yaml").read_text(encoding="utf-8")
    file.write_text(shipped, encoding="utf-8")
    return file


def walked(
    city: Path, server: str, out: Path, monkeypatch: pytest.MonkeyPatch, mover: str | None = None
) -> tuple[StartRecord, str, str]:
    """The start of a run of two moves, what was said, and its report."""
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", MARKER_KEY)
    monkeypatch.setenv("VIRL_GOOGLE_BASE_URL", server)
    said = io.StringIO()
    options = RunOptions(
        "hiro",
        city=str(city),
        at="41.25,-38.75",
        mover=mover,
        out=out,
        fields={"limits.steps": 2},
        access=AccessRecord(cache="off"),
    )
    finished = run_agent(options, Console(file=said, width=200))
    start = next(one for one in read_journal(out) if isinstance(one, StartRecord))
    return start, said.getvalue(), finished.report.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("serve", "name", "why"),
    [
        (PLAIN, "links", "0 of 12 panoramas around the start have fewer than two links"),
        (THIN, "hybrid", "around the start"),
        (NO_TILES, "grid", "the key may not use the Map Tiles API"),
    ],
)
def test_a_run_takes_the_mover_that_fits_and_says_why(
    virlton: City,
    http_city: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    serve: ServeOptions,
    name: str,
    why: str,
) -> None:
    with serve_city(virlton, serve) as server:
        start, said, report = walked(http_city, server.url, tmp_path / "run", monkeypatch)
    assert start.mover == name
    assert why in start.mover_reason
    assert said.count(f"Mover: {name}, as {start.mover_reason}") == 1
    assert start.mover_reason in report


@pytest.mark.slow
def test_what_the_user_asks_for_is_taken_where_it_works(
    virlton: City, http_city: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_city(virlton, THIN) as server:
        start, said, _ = walked(http_city, server.url, tmp_path / "run", monkeypatch, mover="links")
    assert (start.mover, "Mover:" in said) == ("links", False)
    with serve_city(virlton, NO_TILES) as server, pytest.raises(BadInput, match="choose grid or web"):
        walked(http_city, server.url, tmp_path / "refused", monkeypatch, mover="links")
    assert not (tmp_path / "refused" / "journal.jsonl").exists()


@pytest.mark.slow
def test_the_city_file_may_say_that_links_are_thin(
    virlton: City, http_city: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = http_city.read_text(encoding="utf-8")
    http_city.write_text(f"{text}\n  links: thin\n", encoding="utf-8")
    assert planned_mover(str(http_city)).name == "hybrid"
    with serve_city(virlton, PLAIN) as server:
        start, said, _ = walked(http_city, server.url, tmp_path / "run", monkeypatch)
    assert start.mover == "hybrid"
    assert "the city file says that links are thin here" in said


@pytest.mark.slow
def test_a_dry_run_tells_what_may_be_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", MARKER_KEY)
    preview = preview_run(RunOptions("hiro", city="tokyo", at="35.6955,139.7020", out=tmp_path / "run"))
    assert preview.mover == "links"
    assert "then hybrid where links are thin" in preview.mover_reason
    assert preview_run(RunOptions("hiro", out=tmp_path / "run")).mover_reason == ""

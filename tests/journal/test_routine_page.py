"""The page that a routine draws of its runs: found by the routine's name, in old journals as well."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from made_package import install
from made_run import keep_made_run, made_city, start_record

from virl.errors import ModelUnavailable
from virl.journal.journal import JOURNAL, Journal
from virl.journal.records import StartRecord
from virl.journal.report import routine_name, routine_page, write_report
from virl.routines.counting.showing import draw_page

SHOWING = """\
def draw_page(folder, records, city):
    return f"<p>{folder.name}, {len(records)} records, {city.title}</p>"
"""

Installed = Callable[[str], None]


@pytest.fixture
def strolls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installed]:
    """Installs a package with the routine `stroll`, whose `showing.py` has the source given."""

    def package(showing: str) -> None:
        site = tmp_path / "site"
        (site / "strolls").mkdir(parents=True)
        sources = {"__init__": "", "routine": "def run(agent): ...\n", "showing": showing}
        modules = {f"strolls/{name}": source for name, source in sources.items()}
        install(monkeypatch, site, "strolls", {"virl.routines": ["stroll = strolls.routine:run"]}, modules)

    yield package
    for name in [name for name in sys.modules if name.partition(".")[0] == "strolls"]:
        del sys.modules[name]


def start(agent: str = "me", routine: str | None = None, follows: str | None = None) -> StartRecord:
    return start_record().model_copy(
        update={"agent": agent, "routine": routine, "character": {"routine": follows}}
    )


def made_stroll(folder: Path) -> Path:
    begun = start_record().model_copy(update={"routine": "stroll"})
    Journal.create(folder, begun).close()
    return folder


def test_an_installed_routine_draws_the_page_of_its_runs(strolls: Installed, tmp_path: Path) -> None:
    strolls(SHOWING)
    page = write_report(made_stroll(tmp_path / "run"), made_city())
    assert page.read_text() == "<p>run, 1 records, Testville</p>"


@pytest.mark.parametrize("showing", ["", None], ids=["without draw_page", "uninstalled"])
def test_a_routine_without_a_page_of_its_own_has_that_of_all_runs(
    strolls: Installed, tmp_path: Path, showing: str | None
) -> None:
    if showing is not None:
        strolls(showing)
    assert "No steps yet." in write_report(made_stroll(tmp_path / "run")).read_text()


def test_a_page_that_cannot_be_imported_is_named_in_a_line(strolls: Installed, tmp_path: Path) -> None:
    strolls("import nothing_of_this_name\n")
    with pytest.raises(ModelUnavailable, match=r"^routine 'stroll' of strolls cannot be imported") as caught:
        write_report(made_stroll(tmp_path / "run"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("begun", "name"),
    [
        (start("rx399", "counting"), "counting"),
        (start("rx399"), "counting"),
        (start("imani"), "survey"),
        (start("my-planner", follows="imani"), "survey"),
        (start("hiro"), "explore"),
        (start("me", ""), ""),
        (start("../../me"), "../../me"),
    ],
)
def test_a_journal_that_does_not_name_the_routine_names_an_agent(begun: StartRecord, name: str) -> None:
    assert routine_name(begun) == name


def test_a_run_that_counts_has_its_page_in_old_journals_as_well() -> None:
    assert routine_page(start("rx399")) is draw_page
    assert routine_page(start("my-planner", follows="imani")) is draw_page
    assert routine_page(start("counting", "")) is None


def test_a_journal_without_the_routine_is_read(tmp_path: Path) -> None:
    folder = keep_made_run(tmp_path / "run", size=64)
    lines = (folder / JOURNAL).read_text()
    assert '"routine":null,' in lines
    (folder / JOURNAL).write_text(lines.replace('"routine":null,', ""))
    assert "Noodle Bar Mei" in write_report(folder).read_text()

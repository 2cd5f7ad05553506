from pathlib import Path

import pytest
from made_exhibits import keep_made_choice
from made_run import made_city
from test_report import HOSTILE, Page

from virl.journal.report import relative_address, write_report


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    return Page(write_report(keep_made_choice(tmp_path_factory.mktemp("runs") / "aria"), made_city()))


def test_a_run_without_steps_does_not_speak_of_steps(page: Page) -> None:
    assert "finished ✓" in page.text or "✓ Noodle Bar Mei fits best" in page.text
    assert "0 steps" not in page.text
    assert "on foot" not in page.text
    assert "No step was taken" not in page.text


def test_each_sort_of_exhibit_is_drawn(page: Page) -> None:
    assert [card["class"].split()[2] for card in page.all("section", "exhibit")] == [
        "bars", "table", "curves", "text", "map",
    ]  # fmt: skip
    assert len(page.all("g", "spot")) == 4
    picks = [spot["aria-label"] for spot in page.all("g", "pick") if "aria-label" in spot]
    assert picks == ["Noodle Bar Mei: rated 8"]
    assert len(page.all("g", "trail")) == 4, "two ways, and their lines of the legend"
    assert len(page.all("g", "curve")) == 2
    assert "Noodle Bar Mei picked 8 3.2" in page.text
    assert "The Ladle 3 of 10" in page.text
    assert page.all("table", "sortable")
    assert "Nothing to show." in page.text


def test_notes_are_told_and_lead_to_those_who_were_consulted(page: Page) -> None:
    assert "Candidate Noodle Bar Mei" in page.text
    assert "Rate place answered by rules Noodle Bar Mei is mild." in page.text
    links = {link["href"] for link in page.all("a")}
    assert "./consulted/meal/report.html" in links
    assert "3 model calls, $0.2500, 12 s" in page.text
    assert {"./plan.md", "./Noodle%20Bar%20Mei.ics"} <= links


@pytest.mark.parametrize("wicked", [HOSTILE, "javascript:alert(1)", "../../etc/passwd"])
def test_words_of_exhibits_and_notes_stay_words(tmp_path: Path, wicked: str) -> None:
    shown = Page(write_report(keep_made_choice(tmp_path / "run", wicked), made_city()))
    assert len(shown.all("script")) == 1
    assert not shown.all("img")
    assert not any(name.startswith("on") for _, attributes in shown.elements for name in attributes)
    assert all(link["href"].startswith(("#", "./")) for link in shown.all("a"))
    assert not any("/.." in link["href"] for link in shown.all("a"))
    assert shown.text.count(" ".join(wicked.split())) > 10


def test_only_files_below_the_page_are_linked() -> None:
    assert relative_address("a b/c?.md") == "./a%20b/c%3F.md"
    assert relative_address("javascript:alert(1)") == "./javascript%3Aalert%281%29"
    assert [relative_address(path) for path in ("", "/etc/passwd", "../x", "a/../../x")] == [""] * 4

import pytest
from rich.console import Console

from benchmarks.tables import Column, Interval, Row, cell_text, summarize, table

SUCCESS, ERROR = Column("sr", "SR %", percent=True, digits=1), Column("ne", "NE m")


def test_cells_by_hand() -> None:
    assert cell_text(None, ERROR) == "-"
    assert cell_text(6.456, ERROR) == "6.46"
    assert cell_text(0.34, SUCCESS) == "34.0"
    assert cell_text(Interval(0.5, 0.25, 0.75), SUCCESS) == "50.0\n25.0 to 75.0"


def test_a_metric_is_averaged_over_those_that_have_it() -> None:
    summary = summarize([{"sr": 1.0, "ne": None}, {"sr": 0.0, "ne": 4.0}, {"sr": 0.5, "ne": 6.0}])
    assert summary["sr"].mean == pytest.approx(0.5)
    assert summary["ne"].mean == 5
    assert 4 <= summary["ne"].low <= summary["ne"].high <= 6
    assert summarize([{"ne": None}]) == summarize([]) == {}


def test_a_table_fits_a_narrow_terminal_and_takes_names_as_they_are() -> None:
    console = Console(width=80)
    measured = Row("agent [bold]1[/bold]", {"sr": Interval(0.5, 0.25, 0.75)}, "12 episodes")
    with console.capture() as captured:
        console.print(table("Title", [SUCCESS, ERROR], [measured, Row("NavGPT", {"ne": 6.46}, "published")]))
    shown = captured.get()
    for text in ("agent [bold]1[/bold]", "12 episodes", "25.0", "75.0", "6.46", "published"):
        assert text in shown

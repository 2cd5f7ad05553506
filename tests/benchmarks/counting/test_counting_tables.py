"""The tables of the counting page."""

from rich.console import Console

from benchmarks.counting.report import CountingTable, TableRow, terminal_table
from virl.bench.benchmark import Metric
from virl.bench.report.table import cell_text
from virl.bench.statistics import Interval

SUCCESS, ERROR = Metric("sr", "SR %"), Metric("ne", "NE m", percent=False, digits=2)


def test_cells_by_hand() -> None:
    assert cell_text(None, ERROR, 12) == "-"
    assert cell_text(6.456, ERROR, 12) == "6.46"
    assert cell_text(0.34, SUCCESS, 12) == "34.0"
    assert cell_text(Interval(0.5, 0.25, 0.75), SUCCESS, 12) == "50.0\n25 to 75"


def test_a_table_fits_a_narrow_terminal_and_takes_names_as_they_are() -> None:
    console = Console(width=80)
    measured = TableRow("agent [bold]1[/bold]", {"sr": Interval(0.5, 0.25, 0.75)}, "12 episodes")
    with console.capture() as captured:
        rows = [measured, TableRow("NavGPT", {"ne": 6.46}, "published")]
        console.print(terminal_table(CountingTable("Title", [SUCCESS, ERROR], rows)))
    shown = captured.get()
    for text in ("agent [bold]1[/bold]", "12 episodes", "25.0", "75.0", "6.46", "published"):
        assert text in shown

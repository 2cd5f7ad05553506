"""The tables of the counting page."""

from rich.console import Console

from benchmarks.counting.report import RULE_COLUMNS, CountingTable, TableRow, terminal_table
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
        console.print(terminal_table(CountingTable("Title", [SUCCESS, ERROR], rows, 12)))
    shown = captured.get()
    for text in ("agent [bold]1[/bold]", "12 episodes", "25.0", "75.0", "6.46", "published"):
        assert text in shown


def test_numbers_are_whole_at_80_columns_and_too_few_walks_have_no_interval() -> None:
    console = Console(width=80)
    values = {one.key: Interval(1.234, 0.191, 2.968) for one in RULE_COLUMNS}
    row = TableRow("only positions, distance by the box's size", values)
    with console.capture() as captured:
        for walks in (12, 2):
            console.print(terminal_table(CountingTable("Title", RULE_COLUMNS, [row], walks)))
    shown = captured.get()
    assert "\N{HORIZONTAL ELLIPSIS}" not in shown
    assert shown.count("123.4") == 8
    assert shown.count("296.8") == 4
    assert "too few for intervals (n = 2)" in shown

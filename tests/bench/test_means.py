import pytest
from rich.console import Console

from virl.bench.benchmark import Metric, Published
from virl.bench.report.table import means_of, means_table

SUCCESS, ERROR = Metric("sr", "SR"), Metric("ne", "NE m", percent=False, digits=2)


def test_a_metric_is_averaged_over_those_that_have_it() -> None:
    means = means_of([{"sr": 1.0, "ne": None}, {"sr": 0.0, "ne": 4.0}, {"sr": 0.5, "ne": 6.0}])
    assert means["sr"].mean == pytest.approx(0.5)
    assert means["ne"].mean == 5
    assert 4 <= means["ne"].low <= means["ne"].high <= 6
    assert means_of([{"ne": None}]) == means_of([]) == {}


def test_a_table_fits_a_narrow_terminal_and_takes_names_as_they_are() -> None:
    console = Console(width=80)
    scores = [{"sr": 0.25, "ne": None}, {"sr": 0.75, "ne": None}] * 5
    paper = Published("NavGPT", {"ne": 6.456}, "table 1")
    with console.capture() as captured:
        console.print(means_table("Title", [SUCCESS, ERROR], "agent [bold]1[/bold]", scores, [paper]))
    shown = captured.get()
    numbers = ["50.0", "35.0", "65.0", "6.46"]
    for text in ("agent [bold]1[/bold]", "10 episodes", "SR %", *numbers, "published: table 1"):
        assert text in shown
    assert shown.count("-\n") + shown.count(" - ") == 2

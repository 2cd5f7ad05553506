"""The bar of a run: what is done at the moment, and how much is left where that is known."""

import io
from types import SimpleNamespace

import pytest
from made_run import start_record
from rich.console import Console

from virl.agent.terminal import Story
from virl.console import SafeConsole
from virl.geo.globe import LatLng
from virl.journal.records import CostRecord, PoseRecord, Result, StepRecord
from virl.platform.city.inventory import MappedStreet

STREETS = (("", 0.0), ("Station Street", 0.001), ("Hill Road", 0.01))


def test_a_bar_does_not_walk_before_the_agent_does() -> None:
    with Story(Console(file=io.StringIO())) as story:
        story.start(start_record(), ())
        (bar,) = story._progress.tasks
        assert (bar.description, bar.total, bar.fields["count"]) == ("starting", None, "")


def test_a_walk_without_a_known_end_says_how_far_it_went() -> None:
    streets = [MappedStreet(name, name, "", [LatLng(0, lng), LatLng(1, lng)]) for name, lng in STREETS]
    terminal = Console(file=io.StringIO(), force_terminal=True)
    with Story(terminal, SimpleNamespace(streets=lambda: streets)) as story:  # type: ignore[arg-type]
        step = StepRecord(
            seq=1,
            step=11,
            pose=PoseRecord(pano_id="a", lat=0, lng=0, heading=0),
            distance_m=108.2,
            decided="on",
        )
        story.step(step.model_copy(update={"distance_m": 100.0}))
        story.step(step)
        (bar,) = story._progress.tasks
        assert (bar.total, bar.fields["count"]) == (None, "step 11, 208 m, Station Street")


def test_the_bar_has_the_accent_and_green_is_left_to_what_went_well() -> None:
    told = io.StringIO()
    with Story(SafeConsole(file=told, force_terminal=True, color_system="256")) as story:
        story.progress("walking", 1, 5)
        story._progress.refresh()
    assert any(blue in told.getvalue() for blue in ("\x1b[38;5;33m", "\x1b[94m"))  # of 256 colours, or of 16
    assert "\x1b[32m" not in told.getvalue()


@pytest.mark.parametrize(
    ("usd", "words"), [(0.0, "0 model calls, free\n"), (0.25, "0 model calls, $0.2500\n")]
)
def test_what_costs_nothing_is_free(usd: float, words: str) -> None:
    told, cost = io.StringIO(), CostRecord(usd=usd)
    with Story(Console(file=told, width=200)) as story:
        story.end(
            Result(
                agent="a",
                city="b",
                status="finished",
                steps=1,
                distance_m=2,
                reason="done",
                cost=cost,
                versions={},
            )
        )
    assert words in told.getvalue()


def test_a_bar_that_knows_how_much_there_is_estimates_the_rest() -> None:
    now = 0.0
    with Story(Console(file=io.StringIO())) as story:
        story._progress.get_time = lambda: now
        story.progress("looking for panoramas", 0, 90)
        (bar,) = story._progress.tasks
        assert bar.fields["left"] == ""
        now = 10.0
        story.progress("looking for panoramas", 30, 90)
        assert (bar.fields["count"], bar.fields["left"]) == ("30/90", "about 20 s left")
        story.progress("walking", 0, 5)
        assert (bar.fields["count"], bar.fields["left"]) == ("0/5", "")
        story.progress("walking", 5, 5)
        assert (bar.description, bar.total, bar.fields["count"]) == ("working", None, "")


def test_a_walk_that_takes_long_says_so_once() -> None:
    now, told = 0.0, io.StringIO()
    with Story(Console(file=told, width=200)) as story:
        story._progress.get_time = lambda: now
        story.progress("walking", 0, 1000)
        for done in (10, 20, 30):
            now = done * 0.4
            story.progress("walking", done, 1000)
    assert told.getvalue().count("left. Ctrl+C stops") == 1
    assert "20 of 1000: about 6 min 32 s left." in told.getvalue()

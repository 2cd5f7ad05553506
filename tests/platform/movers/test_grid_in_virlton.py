"""The grid on a whole made city, against the scheme that it came from and against the true links."""

from collections.abc import Iterable
from functools import cache

import pytest
from made_life import virlton
from served_google import google_over

from benchmarks.perf.movers import (
    CountingBatchStreetView,
    CountingStreetView,
    MoverResult,
    PaperGrid,
    Walk,
    google_prices,
    measure,
    random_walk,
)
from virl.platform.city.streetview import Link
from virl.platform.movers.grid import GridMover


@cache
def walk() -> Walk:
    return random_walk(virlton(), 60, seed=3)


@cache
def measured(name: str) -> MoverResult:
    return measure(name, virlton().streetview, walk(), google_prices(), latency=0.08)


@cache
def papers() -> tuple[list[set[str]], int]:
    """The links that the paper's scheme finds at each step, and its requests."""
    counting = CountingStreetView(virlton().streetview)
    paper = PaperGrid(counting)
    return [ids(paper.links(pose)) for pose, _ in walk()], counting.requests["static_metadata"]


def ids(links: Iterable[Link]) -> set[str]:
    return {link.pano_id for link in links}


@pytest.mark.slow
def test_a_fifth_of_the_papers_requests_finds_its_links() -> None:
    counting = CountingBatchStreetView(virlton().streetview)
    grid = GridMover(counting)
    theirs, requests = papers()
    mine = [ids(grid.links(pose)) for pose, _ in walk()]
    assert all(found >= before for found, before in zip(mine, theirs, strict=True))
    more = sum(len(found - before) for found, before in zip(mine, theirs, strict=True))
    assert more <= 0.03 * sum(map(len, mine))  # those known from their other end
    assert counting.requests.total() <= requests / 5


@pytest.mark.slow
def test_over_http_too() -> None:
    theirs, requests = papers()
    with google_over(virlton()) as google:
        grid = GridMover(google.city.streetview)
        for (pose, _), before in zip(walk(), theirs, strict=True):
            assert ids(grid.links(pose)) >= before
        asked = google.asked()
    assert sum(asked.values()) <= requests / 5
    assert asked["tiles_pano_ids"] <= len(walk())


@pytest.mark.slow
def test_precision_and_recall_are_the_papers_with_batches_and_without() -> None:
    paper, grid, single = (measured(name) for name in ("paper", "grid", "grid, one by one"))
    assert grid.recall == paper.recall == single.recall == 1.0
    assert grid.precision == single.precision
    assert grid.precision >= paper.precision - 0.02
    assert grid.requests_a_step <= paper.requests_a_step / 5
    assert single.requests_a_step <= 0.8 * paper.requests_a_step
    assert grid.seconds_a_step <= paper.seconds_a_step / 4


@pytest.mark.slow
def test_hybrid_keeps_to_the_listed_links_and_asks_little_more() -> None:
    links, hybrid, single = (measured(name) for name in ("links", "hybrid", "grid, one by one"))
    assert links.precision == links.recall == hybrid.recall == 1.0
    assert hybrid.precision > 0.95
    assert links.requests_a_step < 1.5
    assert hybrid.requests_a_step < 0.3 * single.requests_a_step

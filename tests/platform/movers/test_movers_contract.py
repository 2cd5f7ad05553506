"""What every mover must keep to, on streets where the grid can see every neighbour and nothing else."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest
from made_maps_page import serve_maps_js
from made_streets import MadeStreetView

from virl.errors import BadInput, NoStreetView, UnknownName
from virl.geo.globe import signed_turn
from virl.platform.city.streetview import Link, Pose
from virl.platform.movers.base import LinksMover, Mover
from virl.platform.movers.open_mover import MOVERS, open_mover
from virl.platform.movers.web import WebSettings
from virl.platform.providers.cities import open_city
from virl.serve.google.server import serve_city

IN_BROWSER = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not (shutil.which("chromium") and shutil.which("chromedriver")),
        reason="needs Chromium and its driver: make web-deps",
    ),
]
WAYS = {"n": (0, 1), "e": (1, 0), "s": (0, -1), "w": (-1, 0)}
NAMES = ["c", *(f"{way}{k}" for way in WAYS for k in (1, 2, 3))]


def streets() -> MadeStreetView:
    """A crossing `c` with four arms of three panoramas, 16 m apart; the way north starts 3 degrees west."""
    points = {"c": (0.0, 0.0)}
    edges = []
    for way, (dx, dy) in WAYS.items():
        for k in (1, 2, 3):
            points[f"{way}{k}"] = (16.0 * dx * k, 16.0 * dy * k)
            edges.append(f"{'c' if k == 1 else f'{way}{k - 1}'}-{way}{k}")
    points["n1"] = (-0.8, 16.0)
    return MadeStreetView(points, edges)


@pytest.fixture(
    scope="module",
    params=[
        "links",
        "grid",
        "hybrid",
        pytest.param("web", marks=IN_BROWSER),
        pytest.param("web arrows", marks=IN_BROWSER),
        pytest.param("web stand-in", marks=IN_BROWSER),
        pytest.param("web stand-in arrows", marks=IN_BROWSER),
        pytest.param("hybrid web", marks=IN_BROWSER),
    ],
)
def mover(request: pytest.FixtureRequest) -> Iterator[Mover]:
    name, *how = request.param.split()
    made = streets()
    with ExitStack() as opened:
        web = None
        if "stand-in" in how:
            address, _ = opened.enter_context(serve_maps_js(made, NAMES))
            web = WebSettings(address, arrows="arrows" in how)
        elif "web" in request.param:
            server = opened.enter_context(serve_city(replace(open_city("virlton"), streetview=made)))
            web = WebSettings(f"{server.url}/maps/api/js", "any key", arrows="arrows" in how)
        yield opened.enter_context(open_mover(name, made, web=web, first="web" if "web" in how else "links"))


@pytest.mark.parametrize("name", ["c", "n1", "e2", "s3"])
def test_lists_the_true_links_by_heading(mover: Mover, name: str) -> None:
    truth = LinksMover(streets()).links(Pose(name, 0))
    links = mover.links(Pose(name, 200))
    assert [link.pano_id for link in links] == [link.pano_id for link in truth]
    assert [link.heading for link in links] == sorted(link.heading for link in links)
    for found, true in zip(links, truth, strict=True):
        assert abs(signed_turn(found.heading, true.heading)) < 1e-6
        assert 0 <= found.heading < 360
        assert found.distance == pytest.approx(true.distance, rel=1e-6)


def test_takes_links_there_and_back(mover: Mover) -> None:
    pose = Pose("w2", 90.0)
    for goal in ("w1", "c", "n1", "n2", "n1", "c", "e1"):
        link = next(link for link in mover.links(pose) if link.pano_id == goal)
        pose = mover.take(pose, link)
        assert pose == Pose(goal, link.heading)


def test_links_across_north_are_two_ways(mover: Mover) -> None:
    to_north = next(link for link in mover.links(Pose("c", 0)) if link.pano_id == "n1")
    assert 356 < to_north.heading < 358
    arrived = mover.take(Pose("c", 1.0), to_north)
    assert {link.pano_id for link in mover.links(arrived)} == {"c", "n2"}


def test_gives_the_same_links_when_asked_again(mover: Mover) -> None:
    assert mover.links(Pose("e1", 10)) == mover.links(Pose("e1", 10))


def test_refuses_links_of_other_panoramas(mover: Mover) -> None:
    with pytest.raises(BadInput, match="no link to 'n2' leaves panorama 'c'"):
        mover.take(Pose("c", 0), Link("n2", 0, 32))
    with pytest.raises(BadInput, match="no link to 'nowhere'"):
        mover.take(Pose("c", 0), Link("nowhere", 0, 10))


def test_names_a_panorama_that_is_not_there(mover: Mover) -> None:
    for _ in range(2):
        with pytest.raises(NoStreetView, match="nowhere"):
            mover.links(Pose("nowhere", 0))
    assert mover.links(Pose("c", 0))


def test_an_unknown_mover_is_told_which_there_are() -> None:
    assert set(MOVERS) == {"links", "grid", "web", "hybrid"}
    with pytest.raises(
        UnknownName, match="unknown mover 'teleport': choose one of: grid, hybrid, links, web"
    ):
        open_mover("teleport", streets()).__enter__()

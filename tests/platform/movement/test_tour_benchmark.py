from pathlib import Path

import numpy as np
import pytest

from benchmarks.perf.tour import BestKnown, draw, main, measure, two_opt
from benchmarks.perf.tour_sets import PointSet, made_sets, read_points
from virl.errors import BadInput
from virl.geo import LatLng
from virl.platform.movement.tour.shortest import nearest_neighbour, path_length


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("40.7, -73.9\n40.7\n", "line 2: '40.7' is not a `lat, lng` pair"),
        ("40.7, -73.9\n\n40.7, west\n", "line 3: '40.7, west'"),
        ("40.7, -73.9, 12\n", "line 1"),
        ("-73.9, 140.7\n140.7, -73.9\n", "line 2: latitude 140.7"),
        ("40.7, nan\n", "line 1"),
        ("\n", "contains no points"),
    ],
)
def test_a_malformed_file_is_named_with_its_line(tmp_path: Path, text: str, fault: str) -> None:
    file = tmp_path / "points.txt"
    file.write_text(text)
    with pytest.raises(BadInput, match=f"points.txt.*{fault}"):
        read_points(file)


def test_the_command_says_so_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "points.txt"
    file.write_text("40.7, -73.9\n40.7; -73.8\n")
    monkeypatch.setattr("sys.argv", ["tour", "--points", str(file)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"tour: {file}, line 2: '40.7; -73.8' is not a `lat, lng` pair\n"


def test_the_command_orders_the_points_of_a_file_and_draws_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "points.txt"
    file.write_text("40.700, -73.9\n40.702, -73.9\n40.701, -73.9\n")
    monkeypatch.setattr("sys.argv", ["tour", "--points", str(file), "--draw", str(tmp_path / "tour.svg")])
    main()
    ours = next(line for line in capsys.readouterr().out.splitlines() if " ours " in line)
    assert ours.split()[2:3] == ["222"]  # metres of 0.002 degrees of latitude
    assert (tmp_path / "tour-points.svg").read_text().count("<circle") == 4


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.txt"):
        read_points(tmp_path / "none.txt")


def test_points_are_latitude_first(tmp_path: Path) -> None:
    file = tmp_path / "points.txt"
    file.write_text("40.78, -73.96\n\n40.79,-73.95\n")
    assert read_points(file) == [LatLng(40.78, -73.96), LatLng(40.79, -73.95)]


@pytest.mark.slow
def test_sets_have_their_size_and_are_the_same_again() -> None:
    first, again = (list(made_sets([50])) for _ in range(2))
    assert [one.points.shape for one in first] == [(50, 2)] * 3
    assert [one.key for one in first] == [one.key for one in again]
    assert len({one.key for one in [*first, *made_sets([50], seed=1)]}) == 6


def test_two_opt_uncrosses_what_nearest_neighbour_crosses() -> None:
    points = 500 * np.random.default_rng(4).random((80, 2))
    order = two_opt(points)
    assert order[0] == 0
    assert sorted(order.tolist()) == list(range(80))
    assert path_length(points, order) < path_length(points, nearest_neighbour(points))


@pytest.mark.slow
def test_gaps_are_to_the_shortest_ever_found(tmp_path: Path) -> None:
    points = PointSet("few", 500 * np.random.default_rng(4).random((30, 2)))
    best = BestKnown(tmp_path / "best.json")
    first = {one.method: one for one in measure(points, 0.2, best)}
    assert first["ours"].gap == 0
    assert first["nearest"].gap == pytest.approx(first["nearest"].metres / first["ours"].metres - 1)
    best.learn(points, first["ours"].metres / 1.25, "made up")
    best.keep()
    again = measure(points, 0.2, BestKnown(tmp_path / "best.json"))
    assert again[0].gap == pytest.approx(0.25, abs=0.01)


def test_a_drawing_shows_every_point(tmp_path: Path) -> None:
    points = np.array([(0, 0), (100, 50), (30, 200)], float)
    draw(points, np.array([0, 2, 1]), tmp_path / "tour.svg")
    drawn = (tmp_path / "tour.svg").read_text()
    assert 'points="20.0,220.0 50.0,20.0 120.0,170.0"' in drawn
    assert drawn.count("<circle") == 4

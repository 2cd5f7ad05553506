from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import shapely
from made_life import virlton
from made_streets import FRAME, MadeStreetView

from virl.errors import BadInput
from virl.geo.globe import LatLng, LocalFrame, distances
from virl.geo.region import Region
from virl.platform.city.streetview import Camera, Panorama, StreetView, View
from virl.platform.navigators.survey import BATCH, survey


class Counting:
    """A street view that keeps which positions were asked, and can fail after so many requests."""

    def __init__(self, streetview: StreetView, requests: int | None = None) -> None:
        self.asked: list[LatLng] = []
        self.requests = 0
        self._streetview = streetview
        self._left = requests

    def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
        self._count([position])
        return self._streetview.nearest(position, radius)

    def panorama(self, pano_id: str) -> Panorama:
        return self._streetview.panorama(pano_id)

    def view(self, pano_id: str, camera: Camera) -> View:
        return self._streetview.view(pano_id, camera)

    def _count(self, positions: Sequence[LatLng]) -> None:
        if self.requests == self._left:
            raise KeyboardInterrupt
        self.requests += 1
        self.asked += positions


class CountingBatches(Counting):
    def nearest_many(self, positions: Sequence[LatLng], radius: float = 50.0) -> list[Panorama | None]:
        self._count(positions)
        return [self._streetview.nearest(position, radius) for position in positions]


@cache
def quarter() -> Region:
    """Three hundred metres of Virlton, askew."""
    frame = LocalFrame(virlton().center)
    corners = ((-150, -130), (160, -150), (90, 0), (140, 150), (-160, 110))
    return Region(tuple(frame.position(x, y) for x, y in corners))


@cache
def truth() -> dict[str, LatLng]:
    """The panoramas that do lie in the quarter."""
    street_map = virlton().street_map
    assert street_map is not None
    positions = {pano: virlton().streetview.panorama(pano).position for pano in street_map.panorama_ids()}
    return {pano: position for pano, position in positions.items() if quarter().contains(position)}


@pytest.mark.slow
@pytest.mark.parametrize("spacing", [20, 40])
def test_finds_the_panoramas_of_the_region_and_no_others(spacing: float) -> None:
    assert len(truth()) > 150
    found = survey(virlton().streetview, quarter(), spacing=spacing).found
    assert {pano: one.position for pano, one in found.items()} == truth()


@pytest.mark.slow
def test_the_grid_alone_finds_most_only_where_it_is_as_close_as_the_panoramas() -> None:
    close, wide = (
        len(survey(virlton().streetview, quarter(), spacing=spacing, follow_links=False).found)
        for spacing in (10, 20)
    )
    assert close >= 0.95 * len(truth())
    assert wide < 0.8 * len(truth())  # so that following links is worth its requests


def test_the_grid_is_in_metres_and_nothing_is_asked_twice() -> None:
    counting = Counting(virlton().streetview)
    survey(counting, quarter(), spacing=20, follow_links=False)
    assert len(set(counting.asked)) == len(counting.asked) == len(quarter().grid(20))
    assert len(counting.asked) == pytest.approx(quarter().area_m2 / 400, rel=0.1)
    lat, lng = np.array(counting.asked).T
    between = distances(lat[:, None], lng[:, None], lat, lng) + np.diag(np.full(len(lat), np.inf))
    assert between.min(axis=0) == pytest.approx(np.full(len(lat), 20.0), rel=1e-3)


def test_links_lead_out_of_no_region_and_cost_about_a_request_a_panorama() -> None:
    counting = Counting(virlton().streetview)
    done = survey(counting, quarter(), spacing=20)
    points = [shapely.Point(quarter().frame.point(position)) for position in counting.asked]
    assert max(quarter().polygon.distance(point) for point in points) < 0.001
    assert len(set(counting.asked)) == len(counting.asked) == done.relocated_count
    assert len(counting.asked) - len(quarter().grid(20)) < len(truth())


def test_positions_are_asked_in_batches_where_the_street_view_takes_them() -> None:
    batches = CountingBatches(virlton().streetview)
    found = survey(batches, quarter()).found
    assert found.keys() == truth().keys()
    assert batches.requests < len(batches.asked) / BATCH + 15


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "stops"), [(Counting, (1, 80, 110)), (CountingBatches, (1,))])
def test_what_was_killed_asks_nothing_twice(
    kind: type[Counting], stops: Sequence[int], tmp_path: Path
) -> None:
    whole = kind(virlton().streetview)
    expected = survey(whole, quarter())
    for stop in stops:
        file = tmp_path / f"{stop}.jsonl"
        asked: list[LatLng] = []
        for _ in range(2):
            part = kind(virlton().streetview, requests=stop)
            with pytest.raises(KeyboardInterrupt):
                survey(part, quarter(), file=file)
            asked += part.asked
        rest = kind(virlton().streetview)
        done = survey(rest, quarter(), file=file)
        assert sorted([*asked, *rest.asked]) == sorted(whole.asked)
        assert list(done.found) == list(expected.found)
        idle = kind(virlton().streetview)
        assert survey(idle, quarter(), file=file).found == expected.found
        assert idle.asked == []


@pytest.mark.slow
def test_a_line_that_a_kill_cut_off_is_asked_again(tmp_path: Path) -> None:
    file = tmp_path / "survey.jsonl"
    expected = survey(CountingBatches(virlton().streetview), quarter(), file=file)
    whole = file.read_bytes()
    for cut in (len(whole) - 1, len(whole) - 40, 30, 0):
        file.write_bytes(whole[:cut])
        counting = CountingBatches(virlton().streetview)
        assert survey(counting, quarter(), file=file).found == expected.found
        assert counting.requests > 0
        assert file.read_bytes() == whole


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda text: text.replace('"spacing":20.0', '"spacing":25.0', 1), "another region, spacing"),
        (lambda text: text.replace('"format":1', '"format":7', 1), "line 1: format 7"),
        (lambda text: text.replace('"kind":"batch"', '"kind":"lunch"', 1), "line 2"),
        (lambda text: text[text.index("\n") + 1 :], "line 1: the plan must be the first record"),
        (
            lambda text: text.replace("\n", "\n" + text[: text.index("\n") + 1], 1),
            "line 2: the plan must be the first record",
        ),
        (lambda text: "hello\n" + text, "line 1"),
    ],
)
def test_a_file_of_something_else_is_refused_and_not_touched(
    tmp_path: Path, change: Callable[[str], str], fault: str
) -> None:
    file = tmp_path / "survey.jsonl"
    survey(CountingBatches(virlton().streetview), quarter(), file=file, spacing=20.0)
    file.write_text(change(file.read_text()))
    before = file.read_bytes()
    with pytest.raises(BadInput, match=f"survey.jsonl.*{fault}"):
        survey(CountingBatches(virlton().streetview), quarter(), file=file, spacing=20.0)
    assert file.read_bytes() == before


def test_progress_is_told_after_every_batch() -> None:
    told: list[tuple[int, int, int]] = []
    counting = CountingBatches(virlton().streetview)
    survey(counting, quarter(), progress=lambda *numbers: told.append(numbers))
    assert len(told) == counting.requests
    assert told[-1] == (len(counting.asked), len(counting.asked), len(truth()))
    assert [asked for asked, _, _ in told] == sorted(asked for asked, _, _ in told)
    assert all(asked <= in_all for asked, in_all, _ in told)


def test_panoramas_outside_are_left_out_even_if_they_are_the_nearest() -> None:
    streets = MadeStreetView({"in": (0, 0), "out": (60, 0)}, ["in-out"])
    region = Region(tuple(FRAME.position(x, y) for x, y in ((-45, -45), (45, -45), (45, 45), (-45, 45))))
    assert list(survey(streets, region).found) == ["in"]


@pytest.mark.parametrize("values", [{"spacing": 0}, {"spacing": -3}, {"radius": 0}, {"radius": 2000}])
def test_values_out_of_range_are_refused(values: dict[str, float]) -> None:
    with pytest.raises(BadInput):
        survey(virlton().streetview, quarter(), **values)  # type: ignore[arg-type]


def test_a_lead_that_relocates_elsewhere_is_followed_once() -> None:
    class Gone(MadeStreetView):
        def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
            found = super().nearest(position, radius)
            return self.panorama("a") if found and found.id == "b" else found

    streets = Counting(Gone({"a": (0, 0), "b": (15, 0)}, ["a-b"]))
    region = Region(tuple(FRAME.position(x, y) for x, y in ((-40, -40), (40, -40), (40, 40), (-40, 40))))
    assert list(survey(streets, region).found) == ["a"]
    assert len(set(streets.asked)) == len(streets.asked)

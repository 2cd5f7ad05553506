"""Whose pictures are shown is named, and pictures of nobody are not shown at all."""

import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from virl.errors import NoStreetView
from virl.geo.globe import LatLng, destination
from virl.platform.providers.open.cells import Cell
from virl.platform.providers.open.picture_services import Shot
from virl.platform.providers.open.shots import KeptPictures, ShotLists, load_open_settings
from virl.platform.providers.open.streetview import ExploredGraph, Extent

HERE = LatLng(48.5833, 7.7458)
SETTINGS = load_open_settings()


@dataclass
class Street:
    """A drive eastwards, a panorama every 10 m; the author and the licence of each."""

    told: list[tuple[str, str]]
    start: LatLng = field(default=HERE)

    def __call__(self, cell: Cell) -> list[Shot]:
        return [shot for shot in self.shots if cell.contains(shot.position)]

    @property
    def shots(self) -> list[Shot]:
        spots = [destination(self.start, 90.0, 10.0 * number) for number in range(len(self.told))]
        return [
            Shot(
                id=f"p{rank}",
                lat=spot.lat,
                lng=spot.lng,
                heading=90.0,
                fov=360.0,
                sequence="drive",
                rank=rank,
                taken=datetime(2025, 6, 1, 9, rank // 60, rank % 60, tzinfo=UTC),
                author=author,
                licence=licence,
            )
            for rank, (spot, (author, licence)) in enumerate(zip(spots, self.told, strict=True))
        ]


def explored(street: Street) -> ExploredGraph:
    extent = Extent(HERE, None, 100.0)
    return ExploredGraph(ShotLists(street, None, 30.0), extent, may_keep=SETTINGS.may_keep)


def test_pictures_of_nobody_and_under_no_known_licence_are_left_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    street = Street(
        [("Ada", "CC-BY-SA-4.0"), ("Bo", "etalab-2.0"), (" ", "CC-BY-SA-4.0"), ("Cleo", ""), ("Di", "closed")]
    )
    with caplog.at_level(logging.WARNING):
        city = explored(street)
        assert set(city.graph.graph.ids) == {"p0", "p1"}
    assert city.credits() == "Pictures by: Ada, Bo (CC-BY-SA-4.0, etalab-2.0)"
    lines = [record.getMessage() for record in caplog.records]
    assert lines == [
        "3 of 5 pictures are left out: they name no author, or no licence that allows to keep and share them"
    ]


def test_a_district_of_pictures_of_nobody_has_no_street_view() -> None:
    with pytest.raises(NoStreetView):
        _ = explored(Street([("", "CC-BY-SA-4.0")] * 3)).graph


@pytest.mark.parametrize("told", [("", "CC-BY-SA-4.0"), ("Ada", ""), ("Ada", "closed")])
def test_a_picture_without_a_credit_is_not_kept(told: tuple[str, str], tmp_path: Path) -> None:
    kept = KeptPictures(tmp_path, "panoramax", SETTINGS)
    shot = Street([told]).shots[0]
    assert kept.get(shot, "sd", lambda: b"picture") == b"picture"
    assert not list(tmp_path.rglob("*"))


def test_who_comes_into_sight_on_the_way_is_named_too() -> None:
    city = explored(Street([("Ada", "CC-BY-SA-4.0")] * 60 + [("Far", "etalab-2.0")]))
    _ = city.graph
    assert "Far" not in city.credits()
    city.graph_around(destination(HERE, 90.0, 560.0))
    assert "Far (" in city.credits()

"""Aria where a provider tells only the nearest places of a crowd, and the best rated ones on demand."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from made_quarter import live, notes, place, quarter

from virl.geo.globe import LatLng, distance
from virl.platform.city.places import NearbyPlaces, Place
from virl.platform.city.streetview import Image

TOLD, PAGES = 20, 60
RECOMMEND = {"candidates": 4}
WISH = {"name": "Peng", "background": "A student.", "intention": "Peng is hungry and wants a quiet lunch."}
CHEAP = WISH | {"background": "A student with little money."}


def crowd(count: int, highest: float = 4.9) -> list[Place]:
    rng = np.random.default_rng(3)
    spots = zip(
        rng.uniform(-800, 800, count),
        rng.uniform(2.0, highest, count).round(1),
        rng.choice([0, 1, 2, 3], count),
        rng.integers(1, 500, count),
        strict=True,
    )
    return [
        replace(
            place(
                f"p{number:03d}", float(east), "A place.", rating=float(stars), price_level=int(level) or None
            ),
            review_count=int(reviews),
        )
        for number, (east, stars, level, reviews) in enumerate(spots)
    ]


@dataclass
class Crowd:
    """Tells the 20 nearest of a circle, 60 with more requests, and at most 60 of the best rated."""

    listed: list[Place]
    asked: list[str] = field(default_factory=list)

    def nearby_in_full(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        self.asked.append("nearby" if whole is None else "nearest")
        near = self._near(position, radius)
        most = PAGES if whole is None else TOLD
        complete = radius if len(near) <= most else distance(position, near[most - 1].position)
        return NearbyPlaces(near[:most], complete)

    nearby = nearby_in_full

    def nearby_rated(
        self,
        position: LatLng,
        radius: float,
        types: Collection[str],
        least: float,
        max_price_level: int | None = None,
    ) -> list[Place]:
        self.asked.append(f"{least:g}")
        good = [
            one
            for one in self._near(position, radius)
            if (one.rating or 0.0) >= least
            and (max_price_level is None or 1 <= (one.price_level or 9) <= max_price_level)
        ]
        return NearbyPlaces(good[:PAGES], radius if len(good) <= PAGES else 0.0)

    def details(self, place_id: str) -> Place:
        return next(one for one in self.listed if one.id == place_id)

    def photos(self, place_id: str, limit: int = 1) -> list[Image]:
        return []

    def _near(self, position: LatLng, radius: float) -> list[Place]:
        near = [one for one in self.listed if distance(position, one.position) <= radius]
        return sorted(near, key=lambda one: (distance(position, one.position), one.id))


def weighed(
    folder: Path, places: list[Place], client: dict[str, str]
) -> tuple[list[str], list[str], list[str]]:
    """Ids that Aria looks up: where all places are told, and in a crowd; and what she asked the crowd for."""
    looked_up = []
    crowd = Crowd(places)
    for name, city in (
        ("all", quarter(places)),
        ("crowd", replace(quarter(places), places=crowd)),  # type: ignore[arg-type]
    ):
        live("aria", city, folder / name, {"client": client, "clock": "wed 12:30", "recommend": RECOMMEND})
        (note,) = notes(folder / name, "search")
        looked_up.append([found["id"] for found in note.data["found"]])
    return looked_up[0], looked_up[1], crowd.asked


@pytest.mark.parametrize("client", [WISH, CHEAP])
def test_the_same_places_are_weighed_as_where_all_are_known(client: dict[str, str], tmp_path: Path) -> None:
    known, told, asked = weighed(tmp_path, crowd(300), client)
    assert told == known
    assert len(known) == 8
    assert asked in (["nearest", "4.5"], ["nearest", "4.5", "4"])


def test_where_the_nearest_are_all_nothing_more_is_asked(tmp_path: Path) -> None:
    known, told, asked = weighed(tmp_path, crowd(20), WISH)
    assert told == known
    assert asked == ["nearest"]


def test_where_few_are_rated_well_more_of_the_nearest_are_asked_for(tmp_path: Path) -> None:
    known, told, asked = weighed(tmp_path, crowd(55, highest=3.9), WISH)
    assert told == known
    assert asked == ["nearest", "4.5", "4", "nearby"]


@pytest.mark.slow
def test_a_run_that_goes_on_asks_for_the_same_again(tmp_path: Path) -> None:
    places = crowd(300)
    character = {"client": CHEAP, "clock": "wed 12:30", "recommend": RECOMMEND}
    first, again = Crowd(places), Crowd(places)
    out = tmp_path / "run"
    live("aria", replace(quarter(places), places=first), out, character)  # type: ignore[arg-type]
    journal = out / "journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(line for line in lines if '"end"' not in line))
    live("aria", replace(quarter(places), places=again), out, character)  # type: ignore[arg-type]
    assert again.asked == first.asked

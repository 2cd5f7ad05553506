"""Six short programs of a user, which mypy reads with `--strict` and a test runs."""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from numpy.typing import NDArray

import virl
from virl.platform.city.places import Places


def look_and_search() -> tuple[int, int]:
    town = virl.open_city("virlton")
    view = town.look(town.center, heading=90)
    return view.pixels.shape[0], len(town.places.nearby(town.center, radius=200))


def run_an_agent() -> tuple[str, int, float]:
    finished = virl.run("hiro", steps=20, out="agent", seed=1)
    assert virl.read_run("agent").steps == finished.steps
    return finished.result.status, len(finished.path), finished.cost.usd


def own_model(model: BaseChatModel, agent: virl.Character) -> dict[str, object]:
    return virl.run(agent, mind=model, price=(0.15, 0.60), budget_usd=1.0, out="model").answer


@dataclass
class Own:
    """Data of one's own: places that are open at night, say."""

    inner: Places
    asked: int = 0

    def nearby(
        self,
        position: virl.LatLng,
        radius: float,
        types: Collection[str] = (),
        *,
        whole: float | None = None,
    ) -> list[virl.Place]:
        self.asked += 1
        return self.inner.nearby(position, radius, types, whole=whole)

    def search(self, query: str, near: virl.LatLng | None = None) -> list[virl.Place]:
        return self.inner.search(query, near)

    def details(self, place_id: str) -> virl.Place:
        return self.inner.details(place_id)

    def photos(self, place_id: str, limit: int = 1) -> list[NDArray[np.uint8]]:
        return self.inner.photos(place_id, limit)


def own_data() -> int:
    town = virl.open_city("virlton")
    mine = Own(town.places)
    virl.run("hiro", city=replace(town, places=mine), out="data")
    return mine.asked


def own_graph() -> list[BaseTool]:
    with virl.open_tools("virlton", names=["look", "move", "nearby_places"], out="graph") as tools:
        for tool in tools:
            if tool.name == "move":
                tool.invoke({"direction": "front"})
        return list(tools)


def benchmark(name: str) -> list[str]:
    measured = virl.run_benchmark(name, {"count": 2, "cities": ["north"]}, limit=1, out="bench")
    return [row.model for row in measured.results.rows]

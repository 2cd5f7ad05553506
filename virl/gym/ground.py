"""The street graph under an environment: distances along links, and where episodes start and end."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from virl.errors import BadInput
from virl.geo import Floats
from virl.platform.city import City
from virl.platform.networks import held_street_map
from virl.platform.streetview import Panorama

DRAWS = 100  # goals tried before a range of distances is called impossible; chosen


@dataclass(frozen=True, slots=True)
class Ground:
    """All panoramas of a city, and the metres between linked ones."""

    panoramas: tuple[Panorama, ...]
    number: dict[str, int]
    """The number of each panorama, by its id."""
    metres: csr_array
    """Metres from panorama to panorama along one link, shape (n, n)."""

    def to(self, goal: int) -> Floats:
        """Metres along links from each panorama to the goal; infinite where no way leads there."""
        return self._from(self.metres.T.tocsr(), goal)

    def draw(
        self, rng: np.random.Generator, start: int | None, goal: int | None, within: tuple[float, float]
    ) -> tuple[int, int]:
        """A start and a goal so many metres apart along links; what is given stays as it is.

        Raises:
            BadInput: no panoramas are so far apart.
        """
        if start is not None and goal is not None:
            return start, goal
        for _ in range(DRAWS if goal is None and start is None else 1):
            if start is not None:
                fit = self._between(self._from(self.metres, start), within)
                if len(fit):
                    return start, int(rng.choice(fit))
            else:
                end = int(rng.integers(len(self.panoramas))) if goal is None else goal
                fit = self._between(self.to(end), within)
                if len(fit):
                    return int(rng.choice(fit)), end
        raise BadInput(f"no walk of {within[0]:g} to {within[1]:g} m is possible: change `within`")

    @staticmethod
    def _between(metres: Floats, within: tuple[float, float]) -> NDArray[np.int64]:
        return np.flatnonzero((metres >= within[0]) & (metres <= within[1]))

    @staticmethod
    def _from(metres: csr_array, start: int) -> Floats:
        found: Floats = dijkstra(metres, indices=start)
        return found


def ground_of(city: City) -> Ground:
    """The street graph of a city that is held whole.

    Raises:
        BadInput: the city is asked over a network.
    """
    panoramas = tuple(city.streetview.panorama(name) for name in held_street_map(city).panorama_ids())
    number = {panorama.id: index for index, panorama in enumerate(panoramas)}
    links = {
        (start, number[link.pano_id]): link.distance
        for start, panorama in enumerate(panoramas)
        for link in panorama.links
    }
    ends = np.array(list(links), np.int64).reshape(-1, 2)
    size = len(panoramas), len(panoramas)
    return Ground(panoramas, number, csr_array((list(links.values()), (ends[:, 0], ends[:, 1])), shape=size))

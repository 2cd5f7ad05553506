"""Names for streets, each given once."""

from functools import cache
from typing import Literal

from numpy.random import Generator

from virl.platform.providers.offline.tables import read_table
from virl.settings.model import Settings

WayKind = Literal["avenue", "street", "lane", "court"]


class _Parts(Settings):
    stems: tuple[str, ...]
    endings: dict[WayKind, tuple[str, ...]]


@cache
def _parts() -> _Parts:
    return read_table("streets", _Parts)


class Names:
    """Gives street names, no stem twice."""

    def __init__(self, rng: Generator) -> None:
        self._rng = rng
        self._stems = [_parts().stems[pick] for pick in rng.permutation(len(_parts().stems))]

    def take(self, kind: WayKind) -> str:
        """A name for a street of this kind."""
        endings = _parts().endings[kind]
        return f"{self._stems.pop()} {endings[int(self._rng.integers(len(endings)))]}"

"""Names for streets, each given once."""

from functools import cache
from importlib.resources import files
from typing import Literal

from numpy.random import Generator

from virl.settings import Settings, parse_settings

WayKind = Literal["avenue", "street", "lane", "court"]


class _Parts(Settings):
    stems: tuple[str, ...]
    endings: dict[WayKind, tuple[str, ...]]


@cache
def _parts() -> _Parts:
    text = files(__package__).joinpath("data/streets.yaml").read_text(encoding="utf-8")
    return parse_settings(text, _Parts, source="data/streets.yaml")


class Names:
    """Gives street names, no stem twice."""

    def __init__(self, rng: Generator) -> None:
        self._rng = rng
        self._stems = [_parts().stems[pick] for pick in rng.permutation(len(_parts().stems))]

    def take(self, kind: WayKind) -> str:
        """A name for a street of this kind."""
        endings = _parts().endings[kind]
        return f"{self._stems.pop()} {endings[int(self._rng.integers(len(endings)))]}"

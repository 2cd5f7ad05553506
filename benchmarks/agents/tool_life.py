"""The life of a character with tools, and what pictures of a made city truly show."""

from collections.abc import Sequence
from dataclasses import dataclass

from virl.agent.character import Character
from virl.bench.resources import truth_of
from virl.geo.globe import LatLng
from virl.journal.records import NoteRecord, Result, StepRecord
from virl.platform.city.city import City, Visible
from virl.platform.city.streetview import Camera

SIGN_PIXELS = 150
"""Least pixels of a sign whose letters can be read, in a picture of 640 x 640. Chosen."""


@dataclass(frozen=True, slots=True)
class ToolLife:
    """A finished run of a character with tools, with its city, start, steps and tool calls."""

    city: City
    character: Character
    start: LatLng
    result: Result
    steps: Sequence[StepRecord]
    calls: Sequence[NoteRecord]
    """Notes on the tools used, as the journal has them, in order."""

    @property
    def answer(self) -> str:
        """The answer with which the run ended; empty without one."""
        return str(self.result.answer.get("answer", ""))

    def calls_of(self, *tools: str) -> list[NoteRecord]:
        """Return the successful calls of the tools with these names."""
        return [one for one in self.calls if one.data["name"] in tools and not one.data["failed"]]

    @property
    def panoramas(self) -> list[str]:
        """Ids of the panoramas at which the character stood, in order."""
        return [step.pose.pano_id for step in self.steps]


def signs_in(city: City, pano: str, camera: Camera) -> list[Visible]:
    """Return the signs that a view from panorama `pano` truly shows, large enough to be read.

    Args:
        city: with a known truth.
        pano: id of the panorama.
        camera: of the view.
    """
    return truth_of(city).visible(pano, camera, SIGN_PIXELS, ["sign"])


def shops_of(signs: Sequence[Visible]) -> set[str]:
    """Return the ids of the places that signs belong to."""
    return {one.place_id or one.id for one in signs}

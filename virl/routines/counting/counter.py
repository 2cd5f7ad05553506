"""Counting what stands in the streets: look around, look closer, remember each thing once."""

from collections.abc import Sequence
from dataclasses import dataclass

from virl.platform.city.streetview import Pose, StreetView
from virl.platform.perception.active import Look, Looking, look_around
from virl.platform.perception.base import Detector
from virl.platform.perception.memory import MemoryObject, Seen, Verdict, VisualMemory


@dataclass(frozen=True, slots=True)
class Visit:
    """A look around at one panorama, and the results of visual memory for it."""

    look: Look
    seen: tuple[Seen, ...]
    """The sightings as they are remembered."""
    verdicts: tuple[Verdict, ...]
    """The verdicts on the sightings, in the same order."""


class Counter:
    """A counter of things of some kinds, each thing once, however often it is passed.

    Args:
        streetview: where the views come from.
        detector: what finds things in them.
        memory: what tells known things from new ones; what it holds already is counted too.
        things: what to count, in the detector's words.
        background: what else may stand there; see `look_around`.
        looking: how to look; by default as V-IRL does.
    """

    def __init__(
        self,
        streetview: StreetView,
        detector: Detector,
        memory: VisualMemory,
        things: Sequence[str],
        background: Sequence[str] = (),
        looking: Looking | None = None,
    ) -> None:
        """Prepare to count `things` in panoramas; `background` labels are detected, but not counted."""
        self.memory = memory
        self.things = tuple(dict.fromkeys(things))
        self._streetview = streetview
        self._detector = detector
        self._background = tuple(background)
        self._looking = looking or Looking()

    def visit(self, pose: Pose, name: str = "") -> Visit:
        """Look around at a panorama, and remember what is there.

        Args:
            pose: where to stand; the views cover both sides of its heading.
            name: names the visit, such as `"step-12"`. If the latest visit that memory has is of this name,
                it stays as it is, and is given again: so a run can be resumed at any point.

        Raises:
            NoStreetView, NoImagery: the provider has no such view.
            ModelUnavailable: a model is missing.
            CannotWrite: the disk refuses.
        """
        look = look_around(
            self._streetview,
            self._detector,
            pose,
            self.things,
            background=self._background,
            looking=self._looking,
        )
        verdicts = self.memory.add(look.sightings, name)
        return Visit(look, self._latest(verdicts), tuple(verdicts))

    def finish(self) -> dict[str, int]:
        """Join what has turned out to be one thing, and count: by kind, in the order of `things`."""
        self.memory.merge()
        counts = self.memory.counts()
        return {thing: counts.get(thing, 0) for thing in self.things}

    def find_thing(self, object_id: str) -> MemoryObject:
        """Return the thing of a verdict of the latest visit.

        Raises:
            KeyError: there is no such thing.
        """
        thing = self.memory.get(object_id)
        if thing is None:
            raise KeyError(object_id)
        return thing

    def _latest(self, verdicts: Sequence[Verdict]) -> tuple[Seen, ...]:
        """Return the sightings added last: memory numbers all sightings in the order of their adding."""
        if not verdicts:
            return ()
        views = {seen.number: seen for one in verdicts for seen in self.find_thing(one.object_id).views}
        return tuple(views[number] for number in sorted(views)[-len(verdicts) :])

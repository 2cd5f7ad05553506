"""What a memory with other rules makes of the same sightings."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from virl.platform.city.streetview import Camera, Image, View
from virl.platform.perception.active import Sighting
from virl.platform.perception.base import Match, Matcher
from virl.platform.perception.memory import MemoryObject, MemorySettings, VisualMemory

from .matching import Glance, Reported
from .trip import SeenTrip
from .variants import RuleSet, rules_of


class OnceMatcher:
    """A matcher that compares each pair of pictures once, however many memories ask."""

    def __init__(self, matcher: Matcher) -> None:
        """Prepare to match each pair of pictures once."""
        self._matcher = matcher
        self._known: dict[tuple[bytes, bytes], Match] = {}

    def match(self, pairs: Sequence[tuple[Image, Image]]) -> list[Match]:
        """Return the common points of each pair.

        Raises:
            ModelUnavailable, BadInput: as the matcher does.
        """
        pictures: dict[bytes, Image] = {}
        keys = [(_name(first, pictures), _name(second, pictures)) for first, second in pairs]
        fresh = [key for key in dict.fromkeys(keys) if key not in self._known]
        found = self._matcher.match([(pictures[first], pictures[second]) for first, second in fresh])
        self._known |= zip(fresh, found, strict=True)
        return [self._known[key] for key in keys]


def remember(seeing: SeenTrip, settings: MemorySettings, on: RuleSet, matcher: Matcher) -> list[Reported]:
    """Return what a new memory with these rules reports after all looks of a walk, in their order.

    Args:
        seeing: what was seen.
        settings: of the memory.
        on: rules that are switched on.
        matcher: of features.
    """
    settings = settings.model_copy(update={"rules": rules_of(on)})
    with TemporaryDirectory(prefix="counting-") as folder:
        memory = VisualMemory.open(Path(folder) / "memory", settings, matcher)
        for sightings in seeing.looks:
            memory.add(sightings if "features" in on else [_drop_picture(one) for one in sightings])
        memory.merge()
        return [to_reported(thing, seeing.shown) for thing in memory.objects()]


def to_reported(thing: MemoryObject, shown: Sequence[str | None]) -> Reported:
    """Return an object of a memory, as it is scored.

    Args:
        thing: the object.
        shown: as in `Seeing`; a memory numbers its sightings in the same order.
    """
    glances = (Glance(seen.position, *seen.camera.sector(seen.box)) for seen in thing.views)
    shows, _ = Counter(shown[seen.number] for seen in thing.views).most_common(1)[0]
    return Reported(thing.label, thing.estimate.position, tuple(glances), shows)


def _drop_picture(one: Sighting) -> Sighting:
    """Return the sighting without a picture: rules that compare no pictures need none."""
    return replace(one, view=View(one.view.pano_id, one.view.camera, _black_picture(one.view.camera)))


def _black_picture(camera: Camera) -> Image:
    """Return a black picture of the camera's size that takes no memory."""
    return np.broadcast_to(np.uint8(0), (camera.height, camera.width, 3))


def _name(picture: Image, pictures: dict[bytes, Image]) -> bytes:
    """Return a picture's digest, under which the first picture that is equal is kept.

    Matchers look at that once.
    """
    name = blake2b(picture.tobytes(), digest_size=16).digest()
    pictures.setdefault(name, picture)
    return name

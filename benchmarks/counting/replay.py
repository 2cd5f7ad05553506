"""What a memory with other rules makes of the same sightings."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from virl.platform.city.streetview import Image, View
from virl.platform.perception.active import Sighting
from virl.platform.perception.base import Match, Matcher
from virl.platform.perception.memory import MemoryObject, MemorySettings, VisualMemory

from .matching import Glance, Reported
from .trip import SeenTrip
from .variants import RuleSet, rules_of


@dataclass(slots=True)
class OnceMatcher:
    """A matcher that compares each pair of pictures only once, however many memories ask."""

    matcher: Matcher
    _known: dict[tuple[bytes, bytes], Match] = field(default_factory=dict)

    def match(self, pairs: Sequence[tuple[Image, Image]]) -> list[Match]:
        """Return the match of each pair of pictures, as `matcher` finds it.

        Raises:
            ModelUnavailable, BadInput: as the matcher does.
        """
        pictures: dict[bytes, Image] = {}
        keys = [(_name(first, pictures), _name(second, pictures)) for first, second in pairs]
        fresh = [key for key in dict.fromkeys(keys) if key not in self._known]
        found = self.matcher.match([(pictures[first], pictures[second]) for first, second in fresh])
        self._known |= zip(fresh, found, strict=True)
        return [self._known[key] for key in keys]


def remember(seeing: SeenTrip, settings: MemorySettings, on: RuleSet, matcher: Matcher) -> list[Reported]:
    """Return the things that a new memory reports, with the rules in `on`, after all looks of a walk.

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
    """Return an object of a memory as a thing reported; `shown` as in `SeenTrip`."""
    glances = (Glance(seen.position, *seen.camera.sector(seen.box)) for seen in thing.views)
    shows, _ = Counter(shown[seen.number] for seen in thing.views).most_common(1)[0]
    return Reported(thing.label, thing.estimate.position, tuple(glances), shows)


def _drop_picture(one: Sighting) -> Sighting:
    """Return a sighting with a black picture, for rules that compare no pictures."""
    view = one.view
    # Broadcast from one value, a picture of any size takes almost no memory.
    black = np.broadcast_to(np.uint8(0), (view.camera.height, view.camera.width, 3))
    return replace(one, view=View(view.pano_id, view.camera, black))


def _name(picture: Image, pictures: dict[bytes, Image]) -> bytes:
    """Return a picture's digest, under which `pictures` keeps the first of equal pictures."""
    name = blake2b(picture.tobytes(), digest_size=16).digest()
    pictures.setdefault(name, picture)
    return name

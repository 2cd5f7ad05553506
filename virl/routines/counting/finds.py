"""The things that a run has found, read back from its visual memory with the reasons of every verdict.

Also the names of what a counting run keeps in its folder beside the journal.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from virl.geo.globe import LatLng, distance
from virl.platform.perception.memory import Comparison, MemoryObject, Seen, Verdict, VisualMemory
from virl.platform.perception.memory.log import Added, Joined

MEMORY = "memory"
"""Name of the folder that holds visual memory, inside the run's folder."""
SURVEY = "region.jsonl"
"""Name of the file on a region survey in the run's folder: the navigator's questions and walking order."""
CSV, GEOJSON = "objects.csv", "objects.geojson"
SURE = 0.8
"""Least confidence of a thing that was seen from one panorama only and is not doubtful; chosen."""
SHOWN_COMPARISONS = 2  # chosen: of those that a new thing was held against


@dataclass(frozen=True, slots=True)
class RecordedSighting:
    """A view in which a counted thing was seen, with the reason why it is this thing."""

    seen: Seen
    step: int | None
    """Number of the step at which the thing was seen; `None` if memory does not say."""
    metres: float
    """Metres from the camera to the thing."""
    why: str
    """Reason why the sighting was matched with this thing, or made a new one."""
    crop: str
    """Path, within the run's folder, of the picture cut to the thing; empty if not kept."""
    picture: str
    """Path, within the run's folder, of the view with the thing marked; empty if not kept."""
    margin: float
    """Width of the crop's margin on each side of the thing, as a share of its width and height."""

    @property
    def crop_box(self) -> tuple[float, float, float, float]:
        """The part of the view in the crop as (left, top, width, height) in the view's pixels."""
        left, top, right, bottom = self.seen.box
        wide, high = self.margin * (right - left), self.margin * (bottom - top)
        x, y = max(left - wide, 0.0), max(top - high, 0.0)
        camera = self.seen.camera
        return x, y, min(right + wide, camera.width) - x, min(bottom + high, camera.height) - y


@dataclass(frozen=True, slots=True)
class Find:
    """A counted thing with its position and all its sightings."""

    id: str
    label: str
    number: int
    """Number of the thing among those of its kind, from 1, as shown on the terminal.
    One that was joined with another later leaves a gap."""
    position: LatLng
    sigma_m: float
    confidence: float
    sights: tuple[RecordedSighting, ...]
    joined: tuple[str, ...] = ()
    """Sentences on other things that turned out to be this one, with reasons."""
    former_ids: tuple[str, ...] = ()
    """Ids, in visual memory, of other things that turned out to be this one."""

    @property
    def title(self) -> str:
        """Label and number of the thing, such as "bench 3"."""
        return f"{self.label} {self.number}"

    @property
    def is_doubtful(self) -> bool:
        """Return whether the thing was seen from one panorama only, and not clearly."""
        return self.confidence < SURE and len({sight.seen.pano_id for sight in self.sights}) == 1

    @property
    def best(self) -> RecordedSighting:
        """Sighting that shows the thing best; one with a picture is preferred."""
        return max(self.sights, key=lambda sight: (bool(sight.picture), sight.seen.score))


def read_finds(folder: Path, counted: Path | None = None) -> tuple[Find, ...]:
    """Return the things of a run in `folder` as found; `counted` is the folder of a nested run that counted.

    Raises:
        MemoryBroken: the memory is damaged.
    """
    where = (counted or folder) / MEMORY
    things, memory = VisualMemory.open(where), where.relative_to(folder).as_posix()
    told = _History(things.history())
    margin = things.settings.margin
    return tuple(_to_find(thing, told, memory, margin) for thing in things.objects())


class _History:
    """The history of a visual memory by object and sighting: numbers, steps, verdicts, joins."""

    def __init__(self, history: Iterable[Added | Joined]) -> None:
        """Read a memory's history, in order."""
        self.number: dict[str, int] = {}
        self.step: dict[int, int] = {}
        self.joined: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        self._title: dict[str, str] = {}
        self._verdict: dict[int, Verdict] = {}
        labels: Counter[str] = Counter()
        for record in history:
            if isinstance(record, Joined):
                # With it comes all that was joined to it before.
                line = f"{self._title[record.gone_id]} turned out to be this one: {record.reason}"
                self.joined[record.object_id] += [
                    (record.gone_id, line),
                    *self.joined.pop(record.gone_id, []),
                ]
                continue
            word, _, step = record.name.rpartition("-")
            for seen, verdict in zip(record.sightings, record.verdicts, strict=True):
                self._verdict[seen.number] = verdict
                if word == "step" and step.isdecimal():
                    self.step[seen.number] = int(step)
                if verdict.new:
                    labels[seen.label] += 1
                    self.number[verdict.object_id] = labels[seen.label]
                    self._title[verdict.object_id] = f"{seen.label} {labels[seen.label]}"

    def reason(self, seen: Seen) -> str:
        """Return the reason, in words, why a sighting is of a known object or of a new one."""
        verdict = self._verdict[seen.number]
        if not verdict.new:
            held = next((one for one in verdict.comparisons if one.object_id == verdict.object_id), None)
            return f"the same: {_opinions(held, 'same')}" if held else "the same: seen in one look around"
        against = [f"not {self._title[one.object_id]}: {_opinions(one)}" for one in verdict.comparisons]
        return "new: " + ("; ".join(against[:SHOWN_COMPARISONS]) or "nothing known is near")


def _opinions(comparison: Comparison, says: str | None = None) -> str:
    """Return a comparison's reasons as text: those for the verdict `says`, or all if none supports it."""
    chosen = [one for one in comparison.opinions if one.says == says] or comparison.opinions
    return ", ".join(f"{one.rule}: {one.reason}" for one in chosen) or "it is another's"


def _to_find(thing: MemoryObject, told: _History, memory: str, margin: float) -> Find:
    """Return an object of visual memory as a counted thing.

    Args:
        thing: the object.
        told: history of the memory.
        memory: path of the memory's folder in the run's.
        margin: of its crops, as a share of the thing's width and height.
    """
    place = thing.estimate.position
    sights = tuple(
        RecordedSighting(
            seen,
            told.step.get(seen.number),
            distance(seen.position, place),
            told.reason(seen),
            f"{memory}/{seen.crop}" if seen.crop else "",
            f"{memory}/{seen.picture}" if seen.picture else "",
            margin,
        )
        for seen in thing.views
    )
    return Find(
        thing.id,
        thing.label,
        told.number[thing.id],
        place,
        thing.estimate.sigma,
        thing.confidence,
        sights,
        joined=tuple(line for _, line in told.joined[thing.id]),
        former_ids=tuple(gone for gone, _ in told.joined[thing.id]),
    )

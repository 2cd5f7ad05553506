"""Visual memory: what was seen, each thing once. Described in `docs/explanation/visual-memory.md`."""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Self

import PIL.Image
import PIL.ImageDraw
from cachetools import LRUCache

from virl.errors import BadInput
from virl.files.writing import replace_file
from virl.geo.globe import LatLng
from virl.platform.city.streetview import Image, View
from virl.platform.perception.active import Sighting
from virl.platform.perception.base import Matcher
from virl.platform.perception.images import clip_box, crop, decode
from virl.platform.perception.memory.association import Assigned, associate, next_pairs
from virl.platform.perception.memory.log import LOG, Added, Begun, Joined, Log, MemoryBroken, State
from virl.platform.perception.memory.objects import Estimate, MemoryObject, Seen, Verdict
from virl.platform.perception.memory.positions import fuse, ray_of
from virl.platform.perception.memory.settings import MemorySettings

_log = logging.getLogger(__name__)

_FOLDER = "pictures"
_CROP_QUALITY, _VIEW_QUALITY = 95, 85  # JPEG; chosen: crops are matched, views only looked at
FIRST_PICTURES = 3
"""Number of first sightings of a thing whose pictures are kept; later ones have to be better."""
_CACHED = 32  # chosen: crops held in memory, some 100 kB each
_FRAME: tuple[int, int, int] = (255, 40, 120)  # colour of the drawn box; chosen: rare in streets


class VisualMemory:
    """Things seen, each once, in a folder; opened by `open`. One writer at a time.

    What `add` and `merge` have returned is on the disk, and is there after a kill at any point. No pixels are
    held in memory but those of a few crops.
    """

    def __init__(self, folder: Path, settings: MemorySettings, log: Log, matcher: Matcher | None) -> None:
        self.folder = folder
        self.settings = settings
        self._log = log
        self._matcher = matcher
        self._pictures = Pictures(folder, settings.margin)
        self._state = State()
        self._named: dict[str, int] = {}

    @classmethod
    def open(
        cls, folder: Path, settings: MemorySettings | None = None, matcher: Matcher | None = None
    ) -> Self:
        """Open the memory in a folder; a new, empty one where there is none.

        Args:
            folder: made with the first sighting, where it is missing.
            settings: those of a memory that exists must be the same; `None` takes its own, or the defaults.
            matcher: compares crops; without one, sightings can only be added if `rules.features` is off.

        Raises:
            MemoryBroken: a line is damaged, or of another format.
            BadInput: the settings are not those that the memory was begun with.
        """
        log = Log(folder / LOG)
        memory: Self | None = None
        for start, record in log.read():
            if isinstance(record, Begun):
                if settings is not None and settings != record.settings:
                    raise BadInput(
                        f"{log.path}: was started with other settings: use those, or another folder"
                    )
                memory = cls(folder, record.settings, log, matcher)
            elif memory is not None:
                if fault := memory._state.fault(record):
                    raise log.line_error(record.seq, fault)
                memory._take(record, start)
        return memory or cls(folder, settings or MemorySettings(), log, matcher)

    def add(self, sightings: Sequence[Sighting], name: str = "") -> list[Verdict]:
        """Add the sightings of one look around, and return a verdict on each.

        Args:
            sightings: of any labels; they are assigned to objects jointly, so their order hardly matters.
            name: names this look around, such as `"step-12"`. If the memory already has one of this name, it
                is left as it is and gives the same verdicts again: so a run can be resumed at any point.

        Returns:
            What became of each sighting, in order.

        Raises:
            BadInput: a box, score or position is absurd, or the sightings are from several panoramas.
            ModelUnavailable: the matcher's model is missing, or crops are to be matched and there is none.
            CannotWrite: the disk refuses; the memory is as it was.
            MemoryBroken: a picture that is needed is missing or damaged.
        """
        if name and name in self._named:
            return self._verdicts_of(name)
        if not sightings:
            return []
        self._check(sightings)
        first = self._state.sightings
        seen = [_to_seen(first + i, sighting) for i, sighting in enumerate(sightings)]
        views = {one.number: sighting.view for one, sighting in zip(seen, sightings, strict=True)}
        # Pictures before the record: after a kill no record lacks its pictures.
        if self.settings.rules.features:
            for one in seen:
                self._pictures.keep_crop(one, views[one.number])
        assigned = self._choose_pictures(self._associate(seen))
        for one in (one for group in assigned for one in group.seen if one.picture):
            if not self.settings.rules.features:
                self._pictures.keep_crop(one, views[one.number])
            self._pictures.keep_view(one, views[one.number])
        if self._log.next_seq == 0:
            self._log.append(Begun(settings=self.settings))
        record = self._make_added(assigned, name)
        self._take(record, self._log.append(record))
        return list(record.verdicts)

    def merge(self) -> list[tuple[str, str]]:
        """Join objects whose positions have converged; return (id that stays, id that goes) of each pair.

        Does nothing if `rules.merge` or `rules.geometry` is off.

        Returns:
            Pairs of ids: that of the object that stays, and that of the one whose views it took over.

        Raises:
            CannotWrite: the disk refuses; what was joined before stays joined.
        """
        joined: list[tuple[str, str]] = []
        rules = self.settings.rules
        # Joined objects have new positions, which may bring further pairs together.
        while rules.merge and rules.geometry and (pairs := next_pairs(self._state, self.settings)):
            for pair in pairs:
                record = Joined(
                    seq=self._log.next_seq,
                    object_id=pair.kept.id,
                    gone_id=pair.gone.id,
                    reason=pair.reason,
                    estimate=pair.fuse(self.settings),
                )
                self._take(record, self._log.append(record))
                joined.append((pair.kept.id, pair.gone.id))
        return joined

    def objects(
        self, label: str | None = None, *, min_panoramas: int = 1, min_confidence: float = 0.0
    ) -> list[MemoryObject]:
        """Return the objects that meet the conditions, in the order of their first sightings.

        Args:
            label: of this kind only.
            min_panoramas: seen from at least so many panoramas.
            min_confidence: at least so sure, [0, 1]; see `MemoryObject.confidence`.
        """
        return [
            thing
            for thing in self._state.objects.values()
            if label in {None, thing.label}
            and (min_panoramas <= 1 or len(thing.panoramas) >= min_panoramas)
            and thing.confidence >= min_confidence
        ]

    def counts(self, *, min_panoramas: int = 1, min_confidence: float = 0.0) -> dict[str, int]:
        """Return the number of objects by label, of those that meet the conditions of `objects`."""
        found = self.objects(min_panoramas=min_panoramas, min_confidence=min_confidence)
        return dict(sorted(Counter(thing.label for thing in found).items()))

    def objects_near(self, position: LatLng, radius: float, label: str) -> list[MemoryObject]:
        """Return the objects of a label within `radius` metres of a position, nearest first.

        Args:
            position: to search around.
            radius: metres.
            label: of the things.
        """
        return self._state.objects_near(label, position, radius)

    def get(self, object_id: str) -> MemoryObject | None:
        """Return the object with an id; `None` without one, also after it was joined."""
        return self._state.objects.get(object_id)

    def picture(self, path: str) -> Image:
        """Return the pixels of the picture at a path, as `Seen.crop` or `Seen.picture` gives it.

        Raises:
            MemoryBroken: the file is missing or damaged.
        """
        return self._pictures.load(path)

    def history(self) -> Iterator[Added | Joined]:
        """Yield all records of sightings added and objects joined, in order; read from the disk.

        Raises:
            MemoryBroken: as `open`.
        """
        for _, record in Log(self._log.path).read():
            if not isinstance(record, Begun):
                yield record

    def _check(self, sightings: Sequence[Sighting]) -> None:
        """Raise an error for sightings from several panoramas, faulty ones, or a missing matcher."""
        panoramas = sorted({sighting.view.pano_id for sighting in sightings})
        if len(panoramas) > 1:
            raise BadInput(
                f"add the sightings of one panorama at a time: these are from {', '.join(panoramas)}"
            )
        if self.settings.rules.features and self._matcher is None:
            raise BadInput("the memory's features rule needs a matcher: open it with one, or switch it off")
        for sighting in sightings:
            _check_sighting(sighting)

    def _associate(self, seen: Sequence[Seen]) -> list[Assigned]:
        """Return the sightings grouped by thing, each with its object, label by label."""
        by_label: defaultdict[str, list[Seen]] = defaultdict(list)
        for one in seen:
            by_label[one.label].append(one)
        return [
            assigned
            for group in by_label.values()
            for assigned in associate(group, self._state, self.settings, self._count_matches)
        ]

    def _count_matches(self, pairs: Sequence[tuple[Seen, Seen]]) -> list[int]:
        """Return the number of points in common of each pair's crops."""
        assert self._matcher is not None  # noqa: S101 - `_check` has seen to it
        crops = [(self.picture(one.crop), self.picture(other.crop)) for one, other in pairs]
        return [match.count for match in self._matcher.match(crops)]

    def _choose_pictures(self, assigned: Sequence[Assigned]) -> list[Assigned]:
        """Return the groups, with the paths of only those pictures that are worth a file.

        They are those of a thing's first sightings, and of each that beats all before by its score. Crops are
        all kept where they may be compared.
        """
        chosen = []
        for group in assigned:
            known = () if group.object_id is None else self._state.objects[group.object_id].views
            kept, best = (
                sum(bool(one.picture) for one in known),
                max((one.score for one in known), default=-1.0),
            )
            fresh: dict[int, Seen] = {}
            for one in sorted(group.seen, key=_number):
                if kept < FIRST_PICTURES or one.score > best:
                    fresh[one.number], kept = one, kept + 1
                else:
                    crop = one.crop if self.settings.rules.features else ""
                    fresh[one.number] = replace(one, crop=crop, picture="")
                best = max(best, one.score)
            chosen.append(replace(group, seen=[fresh[one.number] for one in group.seen]))
        return chosen

    def _make_added(self, assigned: Sequence[Assigned], name: str) -> Added:
        """Return the record of new sightings, with verdicts and new positions of their objects."""
        verdicts: dict[int, Verdict] = {}
        estimates: dict[str, Estimate] = {}
        for group in assigned:
            founder = min(group.seen, key=lambda one: one.number)
            object_id = group.object_id or _new_id(founder)
            known = () if group.object_id is None else self._state.objects[object_id].views
            views = (*known, *sorted(group.seen, key=lambda one: one.number))
            rays = [ray_of(view, self.settings) for view in views]
            estimates[object_id] = fuse(rays, self.settings.position_m)
            for one in group.seen:
                new = group.object_id is None and one is founder
                verdicts[one.number] = Verdict(object_id, new, group.comparisons)
        return Added(
            seq=self._log.next_seq,
            name=name,
            sightings=tuple(sorted((one for group in assigned for one in group.seen), key=_number)),
            verdicts=tuple(verdicts[number] for number in sorted(verdicts)),
            estimates=estimates,
        )

    def _take(self, record: Added | Joined, start: int) -> None:
        """Apply a record to the state, whose line starts at byte `start`."""
        self._state.take(record)
        if isinstance(record, Added) and record.name:
            self._named[record.name] = start

    def _verdicts_of(self, name: str) -> list[Verdict]:
        """Return the verdicts of an earlier look around of this name."""
        record = self._log.read_one(self._named[name])
        return list(record.verdicts) if isinstance(record, Added) else []


def _number(seen: Seen) -> int:
    """Return the number of a sighting, to sort by it."""
    return seen.number


def _to_seen(number: int, sighting: Sighting) -> Seen:
    """Return a sighting as it is stored, with the paths of its pictures."""
    camera = sighting.view.camera
    box = clip_box(sighting.box, camera.width, camera.height)
    assert box is not None  # noqa: S101 - `_check_sighting` has seen to it
    crop, picture = Pictures.names(number)
    return Seen(
        number,
        sighting.label,
        sighting.score,
        sighting.view.pano_id,
        camera,
        sighting.position,
        box,
        crop,
        picture,
    )


def _new_id(founder: Seen) -> str:
    """Return the id of a new object, fit for a file's name, by the number of its first sighting."""
    word = "".join(letter if letter.isalnum() else "-" for letter in founder.label.lower())
    return f"{word}-{founder.number}"


def _check_sighting(sighting: Sighting) -> None:
    """Raise an error for a sighting with a blank label, or a score, position or box out of range."""
    camera, pixels = sighting.view.camera, sighting.view.pixels
    what = f"sighting of {sighting.label!r} at {sighting.view.pano_id}"
    if not sighting.label.strip():
        raise BadInput(f"{what}: the label is empty")
    if not 0 <= sighting.score <= 1:
        raise BadInput(f"{what}: score {sighting.score} is outside [0, 1]")
    lat, lng = sighting.position
    if not (isfinite(lat) and isfinite(lng) and abs(lat) <= 90 and abs(lng) <= 180):
        raise BadInput(f"{what}: {lat}, {lng} is not a position")
    if pixels.shape != (camera.height, camera.width, 3):
        raise BadInput(
            f"{what}: a picture of shape {pixels.shape} is not {camera.width} x {camera.height} RGB"
        )
    x0, y0, x1, y1 = sighting.box
    if not (x0 < x1 and y0 < y1) or clip_box(sighting.box, camera.width, camera.height) is None:
        raise BadInput(f"{what}: box {sighting.box} is outside the picture")


class Pictures:
    """The picture files of one memory.

    Args:
        folder: the memory's folder.
        margin: as in `MemorySettings`.
    """

    def __init__(self, folder: Path, margin: float) -> None:
        self._folder = folder
        self._margin = margin
        self._held: LRUCache[str, Image] = LRUCache(_CACHED)

    @staticmethod
    def names(number: int) -> tuple[str, str]:
        """Return (path of the crop, path of the whole view) of a sighting, within the memory's folder."""
        thousand = f"{_FOLDER}/{number // 1000:03d}"
        return f"{thousand}/{number:06d}-crop.jpg", f"{thousand}/{number:06d}-view.jpg"

    def keep_view(self, seen: Seen, view: View) -> None:
        """Write the view of a sighting to its file, replacing any.

        Raises:
            CannotWrite: the disk refuses.
        """
        picture = PIL.Image.fromarray(view.pixels)
        line = max(2, picture.width // 200)
        grown = (seen.box[0] - line, seen.box[1] - line, seen.box[2] + line, seen.box[3] + line)
        PIL.ImageDraw.Draw(picture).rectangle(grown, outline=_FRAME, width=line)
        _write(self._folder / seen.picture, picture, _VIEW_QUALITY)

    def keep_crop(self, seen: Seen, view: View) -> None:
        """Write the crop of a sighting to its file, replacing any.

        Raises:
            CannotWrite: the disk refuses.
        """
        # The file may be another picture than the one held: of a look around that was not recorded.
        self._held.pop(seen.crop, None)
        _write(self._folder / seen.crop, crop(view.pixels, seen.box, self._margin), _CROP_QUALITY)

    def load(self, name: str) -> Image:
        """Return a picture from disk; the latest ones are kept in memory.

        Raises:
            MemoryBroken: it is missing or damaged.
        """
        if name in self._held:
            return self._held[name]
        path = self._folder / name
        try:
            pixels = decode(path.read_bytes())
        except FileNotFoundError:
            raise MemoryBroken(f"{path}: this picture is missing: restore it from a copy") from None
        except (OSError, BadInput) as fault:
            raise MemoryBroken(f"{path}: cannot be read ({fault}): restore it from a copy") from fault
        self._held[name] = pixels
        return pixels


def _write(path: Path, picture: Image | PIL.Image.Image, quality: int) -> None:
    """Write a picture as JPEG, whole or not at all."""
    if not isinstance(picture, PIL.Image.Image):
        picture = PIL.Image.fromarray(picture)
    with replace_file(path, "go on") as file:
        picture.save(file, "JPEG", quality=quality)

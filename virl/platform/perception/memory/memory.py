"""Visual memory: the objects that were seen, each once. See `docs/explanation/visual-memory.md`."""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isfinite
from operator import attrgetter
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
"""Name of the folder of pictures in a memory's folder."""
_CROP_QUALITY, _VIEW_QUALITY = 95, 85
"""JPEG qualities of crops, which are matched, and of views, which are only looked at; chosen."""
FIRST_PICTURES = 3
"""Number of first sightings of an object whose pictures are kept; later ones need a better score."""
_CACHED = 32
"""Number of crops held in memory, some 100 kB each; chosen."""
_FRAME: tuple[int, int, int] = (255, 40, 120)
"""RGB colour of a box drawn in a view; chosen: rare in streets."""


class VisualMemory:
    """The objects seen, each once, kept in a folder; opened by `open`. One writer at a time.

    What `add` and `merge` have returned is on the disk, and is there after a kill at any point. No pixels are
    held in memory but those of a few crops.
    """

    def __init__(self, folder: Path, settings: MemorySettings, log: Log, matcher: Matcher | None) -> None:
        """Begin without objects; `open` also applies the records in `log`."""
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
        """Open the visual memory in a folder; a new, empty one where there is none.

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
                memory._apply(record, start)
        return memory or cls(folder, settings or MemorySettings(), log, matcher)

    def add(self, sightings: Sequence[Sighting], name: str = "") -> list[Verdict]:
        """Add one look's sightings, except under a known `name`, and return the verdict on each, in order.

        They are assigned jointly, so their order hardly matters. A known `name` of a look around, such as
        `"step-12"`, gives the same verdicts again, so that a run can be resumed at any point.

        Raises:
            BadInput: a box, score or position is absurd, or the sightings are from several panoramas.
            ModelUnavailable: the matcher's model is missing, or crops are to be matched and there is none.
            CannotWrite: the disk refuses; the memory is as it was.
            MemoryBroken: a picture that is needed is missing or damaged.
        """
        if name and name in self._named:
            known = self._log.read_one(self._named[name])
            return list(known.verdicts) if isinstance(known, Added) else []
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
        by_label: defaultdict[str, list[Seen]] = defaultdict(list)
        for one in seen:
            by_label[one.label].append(one)
        assigned = self._choose_pictures(
            [
                group
                for alike in by_label.values()
                for group in associate(alike, self._state, self.settings, self._count_matches)
            ]
        )
        for one in (one for group in assigned for one in group.seen if one.picture):
            if not self.settings.rules.features:
                self._pictures.keep_crop(one, views[one.number])
            self._pictures.keep_view(one, views[one.number])
        if self._log.next_seq == 0:
            self._log.append(Begun(settings=self.settings))
        record = self._make_added(assigned, name)
        self._apply(record, self._log.append(record))
        return list(record.verdicts)

    def merge(self) -> list[tuple[str, str]]:
        """Join objects whose positions have converged; return (id that stays, id that goes) of each pair.

        Does nothing if `rules.merge` or `rules.geometry` is off.

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
                self._apply(record, self._log.append(record))
                joined.append((pair.kept.id, pair.gone.id))
        return joined

    def objects(
        self, label: str | None = None, *, min_panoramas: int = 1, min_confidence: float = 0.0
    ) -> list[MemoryObject]:
        """Return objects, of `label` or all, with `min_panoramas` and `min_confidence` or more; oldest first.

        Args:
            label: of the objects; `None` for all.
            min_panoramas: least number of panoramas from which an object was seen.
            min_confidence: least `MemoryObject.confidence`, [0, 1].
        """
        return [
            thing
            for thing in self._state.objects.values()
            if label in {None, thing.label}
            and (min_panoramas <= 1 or len(thing.panoramas) >= min_panoramas)
            and thing.confidence >= min_confidence
        ]

    def counts(self, *, min_panoramas: int = 1, min_confidence: float = 0.0) -> dict[str, int]:
        """Return the number of objects by label; `min_panoramas` and `min_confidence` as in `objects`."""
        found = self.objects(min_panoramas=min_panoramas, min_confidence=min_confidence)
        return dict(sorted(Counter(thing.label for thing in found).items()))

    def objects_near(self, position: LatLng, radius: float, label: str) -> list[MemoryObject]:
        """Return the objects of a label within `radius` metres of a position, nearest first.

        Args:
            position: centre of the search.
            radius: metres.
            label: of the objects.
        """
        return self._state.objects_near(label, position, radius)

    def get(self, object_id: str) -> MemoryObject | None:
        """Return the object with an id, or the one that it was joined to; `None` if there was never one."""
        return self._state.find(object_id)

    def picture(self, path: str) -> Image:
        """Return the pixels of the picture at a path, as `Seen.crop` or `Seen.picture` gives it.

        Raises:
            MemoryBroken: the file is missing or damaged.
        """
        return self._pictures.load(path)

    def history(self) -> Iterator[Added | Joined]:
        """Yield all records of sightings added and objects joined, in order, read from the disk.

        Raises:
            MemoryBroken: as `open`.
        """
        for _, record in Log(self._log.path).read():
            if not isinstance(record, Begun):
                yield record

    def _check(self, sightings: Sequence[Sighting]) -> None:
        """Raise `BadInput` for sightings of several panoramas, absurd values, or a lack of a matcher."""
        panoramas = sorted({sighting.view.pano_id for sighting in sightings})
        if len(panoramas) > 1:
            raise BadInput(
                f"add the sightings of one panorama at a time: these are from {', '.join(panoramas)}"
            )
        if self.settings.rules.features and self._matcher is None:
            raise BadInput("the memory's features rule needs a matcher: open it with one, or switch it off")
        for sighting in sightings:
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
                size = f"{camera.width} x {camera.height}"
                raise BadInput(f"{what}: a picture of shape {pixels.shape} is not {size} RGB")
            x0, y0, x1, y1 = sighting.box
            if not (x0 < x1 and y0 < y1) or clip_box(sighting.box, camera.width, camera.height) is None:
                raise BadInput(f"{what}: box {sighting.box} is outside the picture")

    def _count_matches(self, pairs: Sequence[tuple[Seen, Seen]]) -> list[int]:
        """Return the number of points that the crops of each pair of sightings have in common."""
        assert self._matcher is not None  # noqa: S101 - `_check` has seen to it
        crops = [(self.picture(one.crop), self.picture(other.crop)) for one, other in pairs]
        return [match.count for match in self._matcher.match(crops)]

    def _choose_pictures(self, assigned: Sequence[Assigned]) -> list[Assigned]:
        """Return the groups of sightings without the paths of pictures that are not worth a file.

        Worth one are the pictures of an object's first sightings, and of each that beats all before by its
        score. Crops are all kept where they may be compared.
        """
        chosen = []
        for group in assigned:
            known = () if group.object_id is None else self._state.objects[group.object_id].views
            kept = sum(bool(one.picture) for one in known)
            best = max((one.score for one in known), default=-1.0)
            fresh: dict[int, Seen] = {}
            for one in sorted(group.seen, key=attrgetter("number")):
                if kept < FIRST_PICTURES or one.score > best:
                    fresh[one.number], kept = one, kept + 1
                else:
                    crop = one.crop if self.settings.rules.features else ""
                    fresh[one.number] = replace(one, crop=crop, picture="")
                best = max(best, one.score)
            chosen.append(replace(group, seen=[fresh[one.number] for one in group.seen]))
        return chosen

    def _make_added(self, assigned: Sequence[Assigned], name: str) -> Added:
        """Return the record of the look around `name`, with verdicts and new positions of its objects."""
        verdicts: dict[int, Verdict] = {}
        estimates: dict[str, Estimate] = {}
        for group in assigned:
            founder = min(group.seen, key=lambda one: one.number)
            # Fit for a file's name.
            word = "".join(letter if letter.isalnum() else "-" for letter in founder.label.lower())
            object_id = group.object_id or f"{word}-{founder.number}"
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
            sightings=tuple(
                sorted((one for group in assigned for one in group.seen), key=attrgetter("number"))
            ),
            verdicts=tuple(verdicts[number] for number in sorted(verdicts)),
            estimates=estimates,
        )

    def _apply(self, record: Added | Joined, start: int) -> None:
        """Apply a record whose line in the file starts at byte `start`, and note its name."""
        self._state.apply(record)
        if isinstance(record, Added) and record.name:
            self._named[record.name] = start


def _to_seen(number: int, sighting: Sighting) -> Seen:
    """Return a sighting as it is stored under a number, with the paths of its pictures."""
    camera = sighting.view.camera
    box = clip_box(sighting.box, camera.width, camera.height)
    assert box is not None  # noqa: S101 - `VisualMemory._check` has seen to it
    path = f"{_FOLDER}/{number // 1000:03d}/{number:06d}"  # no folder grows beyond 2,000 files
    paths = f"{path}-crop.jpg", f"{path}-view.jpg"
    return Seen(
        number, sighting.label, sighting.score, sighting.view.pano_id, camera, sighting.position, box, *paths
    )


class Pictures:
    """The picture files in a memory's folder."""

    def __init__(self, folder: Path, margin: float) -> None:
        """Use a memory's folder, and a margin around crops as a share of their box's width and height."""
        self._folder = folder
        self._margin = margin
        self._held: LRUCache[str, Image] = LRUCache(_CACHED)

    def keep_view(self, seen: Seen, view: View) -> None:
        """Write the view of a sighting, with its box drawn in, to the file of its `picture`.

        Raises:
            CannotWrite: the disk refuses.
        """
        picture = PIL.Image.fromarray(view.pixels)
        line = max(2, picture.width // 200)
        grown = (seen.box[0] - line, seen.box[1] - line, seen.box[2] + line, seen.box[3] + line)
        PIL.ImageDraw.Draw(picture).rectangle(grown, outline=_FRAME, width=line)
        _write(self._folder / seen.picture, picture, _VIEW_QUALITY)

    def keep_crop(self, seen: Seen, view: View) -> None:
        """Write the crop of a sighting, cut from its view, to the file of its `crop`.

        Raises:
            CannotWrite: the disk refuses.
        """
        # The file may be another picture than the one held: of a look around that was not recorded.
        self._held.pop(seen.crop, None)
        picture = PIL.Image.fromarray(crop(view.pixels, seen.box, self._margin))
        _write(self._folder / seen.crop, picture, _CROP_QUALITY)

    def load(self, name: str) -> Image:
        """Return the picture at a path within the memory's folder; the latest ones are held in memory.

        Raises:
            MemoryBroken: the file is missing or damaged.
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


def _write(path: Path, picture: PIL.Image.Image, quality: int) -> None:
    """Write a picture to a file as JPEG of a quality in [0, 100], whole or not at all."""
    with replace_file(path, "go on") as file:
        picture.save(file, "JPEG", quality=quality)

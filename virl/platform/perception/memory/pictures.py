"""Pictures of what was seen: files on the disk, of which a few are held in memory."""

from pathlib import Path

import PIL.Image
import PIL.ImageDraw
from cachetools import LRUCache

from virl.errors import BadInput
from virl.files import replacing
from virl.platform.perception.images import crop, decode
from virl.platform.perception.memory.log import MemoryBroken
from virl.platform.streetview import Box, Image, View

FOLDER = "pictures"
CROP_QUALITY, VIEW_QUALITY = 95, 85  # JPEG; chosen: crops are matched, views only looked at
CACHED = 32  # chosen: crops held in memory, some 100 kB each
FRAME: tuple[int, int, int] = (255, 40, 120)  # colour of the drawn box; chosen: rare in streets


class Pictures:
    """The pictures of one memory.

    Args:
        folder: the memory's folder.
        margin: as in `MemorySettings`.
    """

    def __init__(self, folder: Path, margin: float) -> None:
        self._folder = folder
        self._margin = margin
        self._held: LRUCache[str, Image] = LRUCache(CACHED)

    @staticmethod
    def names(number: int) -> tuple[str, str]:
        """Paths of the crop and of the whole view of a sighting, within the memory's folder."""
        thousand = f"{FOLDER}/{number // 1000:03d}"
        return f"{thousand}/{number:06d}-crop.jpg", f"{thousand}/{number:06d}-view.jpg"

    def keep(self, number: int, view: View, box: Box) -> None:
        """Write the two pictures of a sighting, in place of any left over from a run that was killed.

        Raises:
            CannotWrite: the disk refuses.
        """
        crop_name, view_name = self.names(number)
        self._held.pop(crop_name, None)
        _write(self._folder / crop_name, crop(view.pixels, box, self._margin), CROP_QUALITY)
        _write(self._folder / view_name, _framed(view.pixels, box), VIEW_QUALITY)

    def load(self, name: str) -> Image:
        """A picture as it is on the disk.

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


def _framed(pixels: Image, box: Box) -> PIL.Image.Image:
    picture = PIL.Image.fromarray(pixels)
    line = max(2, picture.width // 200)
    grown = (box[0] - line, box[1] - line, box[2] + line, box[3] + line)
    PIL.ImageDraw.Draw(picture).rectangle(grown, outline=FRAME, width=line)
    return picture


def _write(path: Path, picture: Image | PIL.Image.Image, quality: int) -> None:
    """Whole or not at all, for a kill at any point."""
    if not isinstance(picture, PIL.Image.Image):
        picture = PIL.Image.fromarray(picture)
    with replacing(path, "go on") as file:
        picture.save(file, "JPEG", quality=quality)

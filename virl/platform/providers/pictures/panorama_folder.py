"""Panoramas that a user has: a folder of equirectangular pictures named for their ids."""

from functools import lru_cache
from pathlib import Path

import numpy as np

from virl.errors import BadInput, NoImagery
from virl.files.pictures import MOST_PANORAMA_PIXELS, PictureFault, open_picture
from virl.platform.providers.pictures.projection import Equirectangular, equirectangular

KEPT = 8
"""Decoded panoramas kept in memory; chosen: one of 3328x1664 pixels takes 17 MB."""


class PanoramaFolder:
    """A folder of equirectangular pictures `PANO_ID.jpg`; the last few are kept decoded.

    Args:
        folder: it need not exist.
        kept: how many are kept.
    """

    def __init__(self, folder: Path, kept: int = KEPT) -> None:
        self._folder = folder
        self._read = lru_cache(maxsize=kept)(self._decode)

    def panorama(self, pano_id: str, yaw: float) -> Equirectangular:
        """Return the decoded panorama with this id, its middle column at heading `yaw` (degrees).

        Args:
            pano_id: which one.
            yaw: heading of its centre column, degrees.

        Raises:
            NoImagery: the folder has no picture of it, or a broken one.
        """
        return self._read(pano_id, yaw)

    def _decode(self, pano_id: str, yaw: float) -> Equirectangular:
        """Return the panorama read from its file."""
        file = self._folder / f"{pano_id}.jpg"
        if Path(pano_id).name != pano_id or not file.is_file():
            raise NoImagery(f"no picture of panorama {pano_id!r}: put it into {self._folder} as ID.jpg")
        try:
            with open_picture(file, most_pixels=MOST_PANORAMA_PIXELS) as picture:
                return equirectangular(np.asarray(picture.convert("RGB")), yaw)
        except PictureFault as fault:
            raise NoImagery(f"{file}: {fault}: download it again, or remove it") from fault
        except BadInput as fault:
            raise NoImagery(f"{file}: {fault}") from fault

"""Pictures of an episode's page, as they are kept."""

import io

import PIL.Image

from virl.platform.streetview import Image

QUALITY = 80  # chosen: signs stay legible, a view of 640 x 480 takes some 60 kB


def jpeg(image: Image) -> bytes:
    """A picture as JPEG, for `EpisodeResult.files`."""
    file = io.BytesIO()
    PIL.Image.fromarray(image).save(file, "JPEG", quality=QUALITY)
    return file.getvalue()

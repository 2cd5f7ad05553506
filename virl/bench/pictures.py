"""Pictures of an episode's page, as they are kept."""

import io

import PIL.Image

from virl.platform.streetview import Image, View

QUALITY = 80  # chosen: signs stay legible, a view of 640 x 480 takes some 60 kB


def jpeg(image: Image | View) -> bytes:
    """A picture or a view as JPEG, for `EpisodeResult.files`."""
    pixels = image.pixels if isinstance(image, View) else image
    file = io.BytesIO()
    PIL.Image.fromarray(pixels).save(file, "JPEG", quality=QUALITY)
    return file.getvalue()

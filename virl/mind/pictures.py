"""Pictures as models take them."""

import base64
import io
from collections.abc import Sequence
from typing import Any

from PIL import Image as Picture

from virl.platform.streetview import Image

JPEG_QUALITY = 90  # chosen: letters on signs stay sharp, at a sixth of the size of a PNG


def image_block(image: Image) -> dict[Any, Any]:
    """A picture as a LangChain content block: JPEG in base64."""
    file = io.BytesIO()
    Picture.fromarray(image).save(file, "JPEG", quality=JPEG_QUALITY)
    data = base64.b64encode(file.getvalue()).decode("ascii")
    return {"type": "image", "base64": data, "mime_type": "image/jpeg"}


def image_notes(images: Sequence[Image]) -> list[str]:
    """Pictures as they are noted in a ledger: their sizes, such as `640x480`."""
    return [f"{image.shape[1]}x{image.shape[0]}" for image in images]

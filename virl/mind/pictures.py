"""Pictures as models take them."""

import base64
import io
from collections.abc import Mapping
from typing import Any

from langchain_core.messages import BaseMessage
from PIL import Image as Picture

from virl.mind.base import Pictures
from virl.platform.streetview import Image

JPEG_QUALITY = 90  # chosen: letters on signs stay sharp, at a sixth of the size of a PNG

Block = dict[Any, Any]

_NOT_SHOWN: Block = {"type": "text", "text": "(a picture that cannot be shown to you)"}


def picture_blocks(images: Pictures, longest_side: int) -> list[str | Block]:
    """Pictures as LangChain content blocks, each behind its label if it has one.

    Args:
        images: RGB.
        longest_side: pixels; larger pictures are made smaller.
    """
    labels = list(images) if isinstance(images, Mapping) else []
    blocks: list[str | Block] = []
    for at, image in enumerate(_all(images)):
        blocks += [{"type": "text", "text": f"{labels[at]}:"}] if labels else []
        blocks.append(image_block(image, longest_side))
    return blocks


def image_block(image: Image, longest_side: int | None = None) -> Block:
    """A picture as a LangChain content block: JPEG in base64, no longer than `longest_side` pixels."""
    picture = Picture.fromarray(image)
    if longest_side and max(picture.size) > longest_side:
        picture.thumbnail((longest_side, longest_side), Picture.Resampling.LANCZOS)
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=JPEG_QUALITY)
    data = base64.b64encode(file.getvalue()).decode("ascii")
    return {"type": "image", "base64": data, "mime_type": "image/jpeg"}


def image_notes(images: Pictures) -> list[str]:
    """Pictures as they are noted in a ledger: their sizes, such as `640x480`."""
    return [f"{image.shape[1]}x{image.shape[0]}" for image in _all(images)]


def _all(images: Pictures) -> list[Image]:
    return list(images.values() if isinstance(images, Mapping) else images)


def without_pictures(message: BaseMessage) -> BaseMessage:
    """A message with a word in the place of each picture."""
    if not isinstance(message.content, list):
        return message
    blocks = [_NOT_SHOWN if _is_picture(block) else block for block in message.content]
    return message.model_copy(update={"content": blocks})


def _is_picture(block: str | Block) -> bool:
    return isinstance(block, dict) and block.get("type") == "image"

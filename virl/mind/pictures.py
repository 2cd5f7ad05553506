"""Pictures as models take them."""

import base64
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage
from PIL import Image as PillowImage

from virl.files.pictures import rgb
from virl.mind.base import Picture, Pictures
from virl.platform.city.streetview import Image, View

JPEG_QUALITY = 90  # chosen: letters on signs stay sharp, at a sixth of the size of a PNG

Block = dict[Any, Any]
Describe = Callable[[Sequence[View]], Sequence[str]]
"""A function that says of each view what it shows."""

_NOT_SHOWN: Block = {"type": "text", "text": "(a picture that cannot be shown to you)"}


def picture_blocks(images: Pictures, longest_side: int) -> list[str | Block]:
    """Return the pictures as LangChain content blocks, each behind its label if it has one.

    Args:
        images: RGB.
        longest_side: pixels; larger pictures are made smaller.
    """
    labels = list(images) if isinstance(images, Mapping) else []
    blocks: list[str | Block] = []
    for at, image in enumerate(_picture_list(images)):
        blocks += [{"type": "text", "text": f"{labels[at]}:"}] if labels else []
        blocks.append(image_block(_pixels(image), longest_side))
    return blocks


def pictures_in_words(images: Pictures, describe: Describe | None) -> list[dict[str, str]]:
    """Return the label of each picture and what it shows.

    Empty if nobody can say it, or some of them are no views.

    Args:
        images: a view is a picture of which it is known where it was taken.
        describe: the describer of an agent's senses; `None` where there is none.
    """
    views = [image for image in _picture_list(images) if isinstance(image, View)]
    if describe is None or len(views) < len(images):
        return []
    labels = (
        list(images) if isinstance(images, Mapping) else [f"Picture {at + 1}" for at in range(len(views))]
    )
    return [{"label": label, "words": words} for label, words in zip(labels, describe(views), strict=True)]


def image_block(image: Image, longest_side: int | None = None) -> Block:
    """Return a picture as a LangChain content block: JPEG in base64, no longer than `longest_side` pixels."""
    picture = PillowImage.fromarray(image)
    if longest_side and max(picture.size) > longest_side:
        picture.thumbnail((longest_side, longest_side), PillowImage.Resampling.LANCZOS)
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=JPEG_QUALITY)
    data = base64.b64encode(file.getvalue()).decode("ascii")
    return {"type": "image", "base64": data, "mime_type": "image/jpeg"}


def image_notes(images: Pictures) -> list[str]:
    """Return the pictures as they are noted in a ledger: their sizes, such as `640x480`."""
    shapes = [_pixels(image).shape for image in _picture_list(images)]
    return [f"{width}x{height}" for height, width, _ in shapes]


def _picture_list(images: Pictures) -> list[Picture]:
    return list(images.values() if isinstance(images, Mapping) else images)


def _pixels(picture: Picture) -> Image:
    return rgb(picture.pixels if isinstance(picture, View) else picture)


def has_pictures(message: BaseMessage) -> bool:
    """Return whether there is a picture in a message."""
    return isinstance(message.content, list) and any(map(_is_picture, message.content))


def without_pictures(message: BaseMessage) -> BaseMessage:
    """Return a message with a word in the place of each picture."""
    if not isinstance(message.content, list):
        return message
    blocks = [_NOT_SHOWN if _is_picture(block) else block for block in message.content]
    return message.model_copy(update={"content": blocks})


def _is_picture(block: str | Block) -> bool:
    return isinstance(block, dict) and block.get("type") == "image"

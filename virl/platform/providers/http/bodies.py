"""Reading the bodies of replies: what does not fit its shape becomes a `ProviderError`."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from virl.errors import ProviderError
from virl.json_reading import JsonFault, misfits, read_json
from virl.picture_reading import PictureFault, open_picture
from virl.platform.providers.http.faults import shortened
from virl.platform.streetview import Image

Latitude = Annotated[float, Field(ge=-90, le=90)]
Longitude = Annotated[float, Field(ge=-180, le=180)]


class ReplyBody(BaseModel):
    """The shape of a part of a reply. Fields that it does not name do not matter; numbers are finite."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class CamelBody(ReplyBody):
    """The same, where the reply writes its names as `displayName`."""

    model_config = ConfigDict(alias_generator=to_camel)


ShapeT = TypeVar("ShapeT", bound=ReplyBody)


def read_body(shape: type[ShapeT], reply: object, service: str) -> ShapeT:
    """A reply, held to its shape.

    Args:
        shape: what the reply should be.
        reply: what came, as JSON is read.
        service: who replied, such as `"Places API (New)"`.

    Raises:
        ProviderError: it does not fit; names the first field that does not.
    """
    try:
        return shape.model_validate(reply)
    except ValidationError as fault:
        raise ProviderError(service, _misfit(fault), "try again") from None


def _misfit(fault: ValidationError) -> str:
    return f"the reply does not hold what it should ({shortened(misfits(fault, 'the reply')[0])})"


@dataclass(frozen=True, slots=True)
class Wanted:
    """The kind and shape that the body of a good reply has."""

    kind: Literal["object", "array", "image", "file"]
    """A JSON object, a JSON array, a picture, or anything that a file takes."""
    shape: type[ReplyBody] | None = ReplyBody
    """The shape of the object, or of each element of the array; `None` for any."""

    def misfit(self, body: bytes) -> str | None:
        """Return what is wrong with a body, in words; `None` if its reader can read it."""
        if self.kind in {"file", "image"}:
            return _misfit_of_picture(body) if self.kind == "image" else None
        try:
            reply = read_json(body)
        except JsonFault:
            reply = None
        if not isinstance(reply, dict if self.kind == "object" else list):
            return f"the reply is no JSON {self.kind}"
        try:
            if shape := self.shape:
                _ = [shape.model_validate(part) for part in ([reply] if isinstance(reply, dict) else reply)]
        except ValidationError as fault:
            return _misfit(fault)
        return None


def _misfit_of_picture(body: bytes) -> str | None:
    try:
        with open_picture(body) as opened:
            opened.load()
    except PictureFault as fault:
        return f"the reply is {fault}"
    return None


def picture(data: bytes, service: str) -> Image:
    """Decode a picture to RGB.

    Raises:
        ProviderError: it is none, or has too many pixels.
    """
    try:
        with open_picture(data) as opened:
            return np.asarray(opened.convert("RGB"))
    except PictureFault as fault:
        raise ProviderError(service, f"the reply is {fault}", "try again") from fault

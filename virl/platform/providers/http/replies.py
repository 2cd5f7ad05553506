"""Replies of servers: read into models, judged good or faulty, and advice on faults."""

import html
import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import reduce
from math import isfinite
from operator import getitem
from typing import Annotated, Any, Literal, Self, TypeVar, get_args, get_origin

import httpx
import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from virl.errors import ProviderError, Verdict, way_on
from virl.files.json_reading import JsonFault, misfits, read_json
from virl.files.pictures import PictureFault, open_picture
from virl.platform.city.streetview import Image
from virl.retry import asked_wait

MAX_WORDS = 200
"""Largest number of characters of a provider's own words that are shown; chosen."""
_LONGEST_PAGE = 20_000
"""Number of bytes of an error page that are looked at."""

UNREADABLE = "UNREADABLE"
"""Code of the fault of a whole reply whose required fields are missing or wrong."""
ASKED_WRONG = "do not retry: the request itself has to change"
"""Advice on a request that would fail again."""

_TAG = re.compile(r"<[^<>]*>")
"""Pattern of an HTML tag."""


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A reply as received: status, headers and body, without keys."""

    status: int
    """HTTP status."""
    headers: Mapping[str, str]
    """Headers by their lower-case names; empty for a reply out of a cache or recording."""
    body: bytes
    """Body, decompressed."""
    billed: bool = False
    """True if the reply may be charged whatever it says, as a redirect led to it."""


@dataclass(frozen=True, slots=True)
class HttpFault:
    """The fault of a reply that cannot be used, or that did not come."""

    reason: str
    """Description of the fault, without keys."""
    verdict: Verdict
    """Meaning of the fault: whether another try (`wait`), or a smaller request (`smaller`), may help."""
    billed: bool = False
    """True if the try may be charged: answers are, refusals are not."""
    status: int | None = None
    """HTTP status of the reply; `None` if none came."""
    code: str = ""
    """Code in the body of the refusal; empty where it has none."""
    wait: float | None = None
    """Seconds that the server asks to wait; `None` if it does not ask."""
    reply: HttpReply | None = None
    """Reply that has the fault; `None` if no whole one came."""

    @property
    def may_retry(self) -> bool:
        """Return whether another try may help."""
        return self.verdict == "wait"


def usual_remedy(fault: HttpFault, service: str) -> str:
    """Return advice to the user on a fault; it fits any service, so that the name `service` is not used."""
    del service
    later = f"try again later; continue the run with {way_on()}"
    if fault.code == UNREADABLE:
        return f"ask for something else, or {later}"
    return later if fault.may_retry or (fault.status or 0) >= 500 else ASKED_WRONG


def shorten_words(words: object) -> str:
    """Return a provider's own words in one line of at most `MAX_WORDS` characters; empty for `None`."""
    text = " ".join(str(words or "").split())
    return text if len(text) <= MAX_WORDS else f"{text[: MAX_WORDS - 1]}\N{HORIZONTAL ELLIPSIS}"


def json_object(body: bytes) -> dict[str, Any]:
    """Return the JSON object in a reply's body; empty where the body is no JSON object."""
    try:
        value = read_json(body, from_service=True)
    except JsonFault:
        return {}
    return value if isinstance(value, dict) else {}


def page_words(body: bytes) -> str:
    """Return the text of an HTML error page in one line of at most `MAX_WORDS` characters."""
    page = body[:_LONGEST_PAGE].decode("utf-8", "replace")
    _, begun, content = page.partition("<body")
    return shorten_words(html.unescape(_TAG.sub(" ", f"<{content}" if begun else page)))


Latitude = Annotated[float, Field(ge=-90, le=90)]
"""Latitude in degrees, positive in the north."""
Longitude = Annotated[float, Field(ge=-180, le=180)]
"""Longitude in degrees, positive in the east."""


Notes = Callable[[str, object], None]
"""A function that records (reason, item or field) for each item or field of a reply that is left out."""


class ReplyBody(BaseModel):
    """The base class of models of replies; inner items that do not fit are left out and reported.

    Fields that it does not name do not matter. `null` is the same as a missing field. Of a list or a mapping
    the parts that do not fit are left out, and a field that does not fit and has a default takes it: both are
    reported to the `Notes` that validation is given as its context. A position with an altitude is cut, a
    fraction where a whole number is usual is rounded, and a number where a text is usual is its digits.
    """

    model_config = ConfigDict(
        extra="ignore",
        frozen=True,
        allow_inf_nan=False,
        coerce_numbers_to_str=True,
        hide_input_in_errors=True,
    )

    @model_validator(mode="wrap")
    @classmethod
    def _read_as_far_as_possible(
        cls, given: Any, read: ModelWrapValidatorHandler[Self], info: ValidationInfo
    ) -> Self:
        """Return the object, read without those inner items that do not fit and may be missing."""
        if not isinstance(given, Mapping):
            return read(given)
        told = {name: value for name, value in given.items() if value is not None}
        for _ in range(_MOST_TRIES):
            try:
                return read(told)
            except ValidationError as fault:
                told = _mend(cls, given, told, fault, info.context)
        return read(told)


MUST_FIT = "must fit"
"""Mark of a field whose wrong value is neither rounded nor replaced: its whole object is left out."""
_MOST_TRIES = 4
"""Largest number of times that an object is mended: cut, rounded, then left out (chosen)."""


def _mend(
    shape: type[ReplyBody], given: object, told: dict[str, Any], fault: ValidationError, notes: Notes | None
) -> dict[str, Any]:
    """Return an object's fields `told` without those that do not fit; raise `fault` if one is required."""
    mended, gone, copied = dict(told), dict[str, set[Any]](), set[str]()
    for error in fault.errors(include_url=False):
        name, *within = error["loc"] or ("",)
        field = next((one for own, one in shape.model_fields.items() if name == (one.alias or own)), None)
        key, part = str(name), given
        if field is None or key not in told:
            raise fault
        must_fit = MUST_FIT in field.metadata
        is_inner = any(isinstance(step, str) for step in within)  # of a part that has tried to mend itself
        repaired, is_kept = None if must_fit or is_inner else _repair(error), False
        if repaired is not None:
            # The reply itself stays as it came, also within nested lists: the repair is made in a copy.
            if key not in copied:
                copied.add(key)
                mended[key] = deepcopy(told[key])
            *outer, last = key, *within
            place: Any = reduce(getitem, outer, mended)
            place[last] = repaired
            is_kept = bool(within) or _is_fixed(field.annotation, told[key])
        elif within and isinstance(told[key], list | dict) and not _is_fixed(field.annotation, told[key]):
            gone.setdefault(key, set()).add(within[0])
            part = told[key][within[0]]
        elif field.is_required() or must_fit:
            raise fault
        else:
            mended.pop(key, None)
        if notes and part is not None and not is_kept:
            notes(_reason(error, told, part), part)
    for key, parts in gone.items():
        whole = mended[key]
        mended[key] = (
            [part for index, part in enumerate(whole) if index not in parts]
            if isinstance(whole, list)
            else {name: part for name, part in whole.items() if name not in parts}
        )
    return mended


def _repair(error: ErrorDetails) -> Any:
    """Return a list cut to its largest length, or a fraction rounded; `None` for other faults."""
    given = error["input"]
    if error["type"] == "too_long" and isinstance(given, list):
        return given[: error["ctx"]["max_length"]]
    if error["type"] == "int_from_float" and isfinite(given):
        return round(given)
    return None


def _reason(error: ErrorDetails, told: Mapping[str, Any], part: Any) -> str:
    """Return which field does not fit and why, with the id of `part`, the faulty item, or of its object."""
    steps = [str(step) for step in error["loc"] if not isinstance(step, int)]
    why = "Input should be an object" if error["type"] == "model_type" else error["msg"]
    said = ": ".join(filter(None, (".".join(steps), why)))
    parts = (one for one in (part, told) if isinstance(one, Mapping))
    of = next((str(one[key]) for one in parts for key in _IDS if one.get(key)), "")
    return shorten_words(said + (f" (in {of})" if of else ""))


_IDS = ("id", "place_id", "panoId", "pano_id", "name")
"""Names of fields that identify an item, the surest first."""


def _is_fixed(annotation: Any, value: object) -> bool:
    """Return whether a value must keep all items, since its type is a model or a tuple of fixed length."""
    kinds = [annotation, *get_args(annotation)]
    if isinstance(value, dict):
        return not any(get_origin(kind) is dict for kind in kinds)
    return not any(
        get_origin(kind) is list or (get_origin(kind) is tuple and Ellipsis in get_args(kind))
        for kind in kinds
    )


def _or_unknown(given: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """Return the value that a validator reads; `None`, reported to the context, where it does not fit."""
    try:
        return read(given)
    except ValidationError as fault:
        if info.context:
            info.context(
                f"{info.field_name}: {_reason(fault.errors(include_url=False)[0], info.data, given)}", given
            )
        return None


OrUnknown = WrapValidator(_or_unknown)
"""Validator that gives `None` for a value that does not fit, and reports it."""


class CamelBody(ReplyBody):
    """The base class of models of replies with names in camel case, such as `displayName`."""

    model_config = ConfigDict(alias_generator=to_camel)


ShapeT = TypeVar("ShapeT", bound=ReplyBody)


def read_body(shape: type[ShapeT], reply: object, service: str, notes: Notes | None = None) -> ShapeT:
    """Return a reply, parsed from JSON, as its model `shape`; raise `ProviderError` if it does not fit.

    Args:
        shape: model of the reply.
        reply: reply as plain data, parsed from JSON.
        service: name of the service, such as `"Places API (New)"`, for the error.
        notes: function (reason, item or field) that counts what was left out.

    Raises:
        ProviderError: it does not fit; names the first field that does not.
    """
    try:
        return shape.model_validate(reply, context=notes)
    except ValidationError as fault:
        raise ProviderError(service, _misfit(fault), "try again") from None


def read_element(shape: type[ShapeT], element: object, notes: Notes) -> ShapeT | None:
    """Return one element of a JSON array as its model `shape`; `None`, reported, if it does not fit.

    Args:
        shape: model of the element.
        element: element as plain data.
        notes: function (reason, item or field) that counts what was left out.
    """
    try:
        return shape.model_validate(element, context=notes)
    except ValidationError as fault:
        notes(_reason(fault.errors(include_url=False)[0], {}, element), element)
        return None


def _misfit(fault: ValidationError) -> str:
    """Return the words for a reply that does not fit, with the first field that does not."""
    return f"the reply lacks a field, or has a wrong one ({shorten_words(misfits(fault, 'the reply')[0])})"


@dataclass(frozen=True, slots=True)
class ExpectedBody:
    """The kind and the model that the body of a good reply has to fit."""

    kind: Literal["object", "array", "image", "file"]
    """Kind of body: a JSON object, a JSON array, a picture, or any bytes for a file."""
    shape: type[ReplyBody] | None = ReplyBody
    """Model of the JSON object; `None` for any."""

    def misfit(self, body: bytes) -> tuple[str, bool] | None:
        """Return (fault of a body in words, True if it is whole JSON); `None` for a good body."""
        if self.kind == "file":
            return None
        if self.kind == "image":
            try:
                with open_picture(body) as opened:
                    opened.load()
            except PictureFault as fault:
                return f"the reply is {fault}", False
            return None
        try:
            reply = read_json(body, from_service=True)
        except JsonFault:
            reply = None
        if not isinstance(reply, dict if self.kind == "object" else list):
            return f"the reply is no JSON {self.kind}", False
        try:
            if self.kind == "object" and self.shape:
                self.shape.model_validate(reply)
        except ValidationError as fault:
            return _misfit(fault), True
        return None


def picture(data: bytes, service: str) -> Image:
    """Return the RGB pixels of an encoded picture that a service, named in errors, sent.

    Raises:
        ProviderError: it is no picture, or has too many pixels.
    """
    try:
        with open_picture(data) as opened:
            return np.asarray(opened.convert("RGB"))
    except PictureFault as fault:
        raise ProviderError(service, f"the reply is {fault}", "try again") from fault


Judge = Callable[[ExpectedBody, HttpReply], HttpReply | HttpFault]
"""A function (expected body, reply without keys) to the same reply, or to its fault."""


def usual_judge(expected: ExpectedBody, reply: HttpReply) -> HttpReply | HttpFault:
    """Return a reply of status 200 with the expected body, or else its fault."""
    return judge_body(expected, reply) if reply.status == httpx.codes.OK else refusal(reply)


def judge_body(expected: ExpectedBody, reply: HttpReply, *, billed: bool = False) -> HttpReply | HttpFault:
    """Return a reply whose body is as expected, or its fault, charged for if `billed`.

    Another try may help where the body is broken. Where it is whole and lacks what it must hold, the service
    has answered: it is not asked, nor paid, again.

    Args:
        expected: kind and model that the body has to fit.
        reply: reply with a status of answers, such as 200.
        billed: True if a reply that cannot be read is charged for.
    """
    misfit = expected.misfit(reply.body)
    if misfit is None:
        return reply
    reason, is_whole = misfit
    if is_whole:
        return HttpFault(reason, "never", billed=billed, status=reply.status, code=UNREADABLE)
    return HttpFault(reason, "wait", billed=billed, status=reply.status)


def refusal(reply: HttpReply) -> HttpFault:
    """Return the fault of a reply whose status refuses; after 429, or 500 and above, another try may help."""
    words, code = words_and_code(reply.body)
    reason = f"status {reply.status}{f', code {code}' if code else ''}{f': {words}' if words else ''}"
    passes = reply.status == httpx.codes.TOO_MANY_REQUESTS or reply.status >= 500
    return HttpFault(
        reason,
        "wait" if passes else "refused",
        status=reply.status,
        code=code,
        wait=asked_wait(reply.headers.get("retry-after")),
    )


def words_and_code(body: bytes) -> tuple[str, str]:
    """Return (message, code) in the body of a refusal; each may be empty.

    The words are the `message` of the JSON or of its `error`, or else those of the page; the code is the
    `code` of the `error`, or an `error` that is a word.
    """
    told = json_object(body)
    error = told.get("error")
    if isinstance(error, dict):
        return shorten_words(error.get("message")), shorten_words(error.get("code"))
    if told:
        return shorten_words(told.get("message")), shorten_words(error)
    return page_words(body), ""


class PointBody(ReplyBody):
    """A GeoJSON point: longitude before latitude."""

    coordinates: tuple[Longitude, Latitude]
    """(longitude, latitude) in degrees."""

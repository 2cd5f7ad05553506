"""Judges: they tell a good reply from a fault, and say what a refusal means."""

from collections.abc import Callable

import httpx

from virl.platform.providers.http.bodies import Wanted
from virl.platform.providers.http.faults import (
    UNREADABLE,
    HttpFault,
    Received,
    json_object,
    page_words,
    shorten_words,
    wait_of,
)

Judge = Callable[[Wanted, Received], Received | HttpFault]
"""A function from the wanted body and a reply without keys to that reply, or to its fault."""


def usual_judge(wanted: Wanted, reply: Received) -> Received | HttpFault:
    """Return a reply of status 200 with the wanted body, or else its fault."""
    return judge_body(wanted, reply) if reply.status == httpx.codes.OK else refusal(reply)


def judge_body(wanted: Wanted, reply: Received, *, billed: bool = False) -> Received | HttpFault:
    """Return a reply whose body is as wanted, or the fault of its body.

    Another try may help where the body is broken. Where it is whole and lacks what it must hold, the service
    has answered: it is not asked, nor paid, again.

    Args:
        wanted: what the body must be.
        reply: of a status of answers.
        billed: whether a reply that cannot be read is charged for.
    """
    misfit = wanted.misfit(reply.body)
    if misfit is None:
        return reply
    reason, is_whole = misfit
    if is_whole:
        return HttpFault(reason, "never", billed=billed, status=reply.status, code=UNREADABLE)
    return HttpFault(reason, "wait", billed=billed, status=reply.status)


def refusal(reply: Received) -> HttpFault:
    """Return the fault of a reply that refuses: statuses 429 and from 500 on may pass."""
    words, code = words_and_code(reply.body)
    reason = f"status {reply.status}{f', code {code}' if code else ''}{f': {words}' if words else ''}"
    passes = reply.status == httpx.codes.TOO_MANY_REQUESTS or reply.status >= 500
    return HttpFault(
        reason,
        "wait" if passes else "refused",
        status=reply.status,
        code=code,
        wait=wait_of(reply.headers),
    )


def words_and_code(body: bytes) -> tuple[str, str]:
    """Return (the words, the code) of the body of a refusal; either may be empty.

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

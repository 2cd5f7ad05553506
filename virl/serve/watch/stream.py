"""Server-sent events: what is told of some runs, as it comes.

Each event's id says how much of each run was sent, so that a browser that lost its connection goes on there.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from threading import Event
from typing import Any

from starlette.concurrency import run_in_threadpool

from virl.serve.watch.feed import Feed

POLL_S = 0.2  # how often journals are looked at; chosen
HEARTBEAT_S = 15.0  # a comment keeps the connection; chosen
BATCH = 50  # records in one event; chosen


async def events(feeds: Mapping[int, Feed], last_id: str, closing: Event) -> AsyncIterator[str]:
    """The events of some runs, until the server stops.

    Args:
        feeds: the runs, by number.
        last_id: the id of the last event that the browser got; empty for none.
        closing: set when the server stops.
    """
    sent = dict.fromkeys(feeds, 0) | {run: count for run, count in _counts(last_id).items() if run in feeds}
    said: dict[int, Any] = {}
    quiet = 0.0
    yield "retry: 1000\n\n"
    while not closing.is_set():
        for run, feed in feeds.items():
            told = await run_in_threadpool(feed.told, sent[run])
            for batch in _batches(told):
                sent[run] += len(batch)
                yield _event("told", {"run": run, "told": batch}, _id(sent))
                quiet = 0.0
            state = feed.state()
            if state != said.get(run):
                said[run] = state
                yield _event("state", {"run": run} | state, _id(sent))
                quiet = 0.0
        if quiet >= HEARTBEAT_S:
            quiet = 0.0
            yield ": alive\n\n"
        await asyncio.sleep(POLL_S)
        quiet += POLL_S


def _batches(told: Sequence[dict[str, Any]]) -> list[Sequence[dict[str, Any]]]:
    return [told[start : start + BATCH] for start in range(0, len(told), BATCH)]


def _event(name: str, data: object, identity: str) -> str:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))  # on one line: JSON escapes breaks
    return f"event: {name}\nid: {identity}\ndata: {text}\n\n"


def _id(sent: Mapping[int, int]) -> str:
    """Such as `0.12-3.40`: 12 records of run 0, and 40 of run 3."""
    return "-".join(f"{run}.{count}" for run, count in sent.items())


def _counts(identity: str) -> dict[int, int]:
    """What an id says; nothing of one that this server cannot have made."""
    found = {}
    for part in identity.split("-"):
        run, dot, count = part.partition(".")
        if dot and run.isdecimal() and count.isdecimal() and len(part) < 24:
            found[int(run)] = int(count)
    return found

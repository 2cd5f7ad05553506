"""Models that many threads share, and the pace of their requests.

Each has the protocol of its role (`virl.platform.perception.base`) and puts every question to one function,
`ModelFunction`. What many ask at the same time goes to the model in one call.
"""

import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
from langchain_core.rate_limiters import BaseRateLimiter
from numpy.typing import NDArray

from virl.platform.city.streetview import Image, View
from virl.platform.perception.base import (
    Detection,
    Embeddings,
    LookScores,
    Match,
    SceneDescription,
    TextLine,
    describe_scenes,
)

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

WAIT_S = 0.005
"""Seconds that the first request of a batch waits for others. Chosen: short beside a model's own time."""


@dataclass(slots=True, eq=False)
class _Request(Generic[ItemT, ResultT]):
    """One thread's request to a batcher: its items, and later their results or the error."""

    key: Hashable
    items: Sequence[ItemT]
    results: Sequence[ResultT] | None = None
    fault: BaseException | None = None

    @property
    def is_done(self) -> bool:
        """Return whether the request has its results or a fault."""
        return self.results is not None or self.fault is not None


@dataclass(slots=True, eq=False)
class Batcher(Generic[ItemT, ResultT]):
    """A queue that merges requests of many threads into calls of one function, one call at a time.

    There is no thread of its own: the first that asks waits a little for others, makes the call, and hands
    out the results. Requests go together if their keys are equal. A call that fails is made again for each
    of its requests alone, so that one bad picture fails only the episode that asked about it.
    """

    call: Callable[[Any, Sequence[ItemT]], Sequence[ResultT]]
    """Function from a key and the items of all requests to one result an item, in order."""
    most: int = field(default=16, kw_only=True)
    """Most items in a call; a single request may have more."""
    wait_s: float = field(default=WAIT_S, kw_only=True)
    """Seconds to wait for a call to fill up."""
    _pending: list[_Request[ItemT, ResultT]] = field(default_factory=list, init=False)
    _changed: threading.Condition = field(default_factory=threading.Condition, init=False)
    _busy: bool = field(default=False, init=False)

    def __call__(self, key: Hashable, items: Sequence[ItemT]) -> Sequence[ResultT]:
        """Return one result for each item, in order; requests with an equal `key` may share a call.

        Raises:
            Exception: whatever the call raises for these items.
        """
        request: _Request[ItemT, ResultT] = _Request(key, items)
        with self._changed:
            self._pending.append(request)
            self._changed.notify_all()
            while not request.is_done:
                self._changed.wait_for(lambda: request.is_done or not self._busy)
                if not request.is_done:
                    self._lead()
        if request.fault is not None:
            raise request.fault
        return () if request.results is None else request.results

    def _lead(self) -> None:
        """Gather a batch and call the function for it; needs the condition held, and returns with it held."""
        self._busy = True
        try:
            key = self._pending[0].key
            self._changed.wait_for(
                lambda: sum(len(one.items) for one in self._pending if one.key == key) >= self.most,
                self.wait_s,
            )
            batch = self._take()
            # Other threads queue up meanwhile, which fills the next batch.
            self._changed.release()
            try:
                self._answer(batch)
            finally:
                self._changed.acquire()
        finally:
            self._busy = False
            self._changed.notify_all()

    def _take(self) -> list[_Request[ItemT, ResultT]]:
        """Remove and return the oldest request and those with its key that fit in the same batch."""
        key = self._pending[0].key
        batch: list[_Request[ItemT, ResultT]] = []
        room = self.most
        for request in self._pending:
            if request.key == key and (not batch or len(request.items) <= room):
                batch.append(request)
                room -= len(request.items)
        self._pending = [request for request in self._pending if request not in batch]
        return batch

    def _answer(self, batch: Sequence[_Request[ItemT, ResultT]]) -> None:
        """Put a batch's results into its requests; if the call fails, call again for each request alone."""
        items = [item for request in batch for item in request.items]
        try:
            results = self.call(batch[0].key, items)
            if len(results) != len(items):
                raise ValueError(f"{len(results)} results for {len(items)} items")  # noqa: TRY301
        except BaseException as fault:  # noqa: BLE001 - raised where it was asked
            if len(batch) == 1 or not isinstance(fault, Exception):
                for request in batch:
                    request.fault = fault
                return
            # One picture that breaks the model must not fail the episodes of others.
            for request in batch:
                self._answer([request])
            return
        start = 0
        for request in batch:
            request.results = results[start : start + len(request.items)]
            start += len(request.items)


ModelCall = tuple[Any, ...]
"""(name of the model's method, further arguments) of a call; the call's items are passed apart from it."""

ModelFunction = Callable[[ModelCall, Sequence[Any]], Sequence[Any]]
"""A function from a call and its items to one result per item, in order."""

_SCENES = "describe_scenes"


@dataclass(frozen=True, slots=True)
class SharedDetector:
    """A detector whose calls are batched with those of other threads."""

    ask: ModelFunction
    look_scores: LookScores
    """The meaning of the detector's scores, as `Detector.look_scores`."""

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        """Return the detections of these labels in each view, a list per view."""
        return list(self.ask(("detect", tuple(labels)), views))


@dataclass(frozen=True, slots=True)
class SharedReader:
    """A text reader (OCR) whose calls are batched with those of other threads."""

    ask: ModelFunction

    def read(self, images: Sequence[Image]) -> list[list[TextLine]]:
        """Return the lines of text in each picture, a list per picture."""
        return list(self.ask(("read",), images))


@dataclass(frozen=True, slots=True)
class SharedMatcher:
    """A matcher of pictures whose calls are batched with those of other threads."""

    ask: ModelFunction

    def match(self, pairs: Sequence[tuple[Image, Image]]) -> list[Match]:
        """Return the match of each pair of pictures, in order."""
        return list(self.ask(("match",), pairs))


@dataclass(frozen=True, slots=True)
class SharedDescriber:
    """A describer of views whose calls are batched with those of other threads."""

    ask: ModelFunction

    def describe(self, views: Sequence[View], question: str = "") -> list[str]:
        """Return a description of each view or, with a question, an answer about each view."""
        return list(self.ask(("describe", question), views))

    def describe_scenes(self, views: Sequence[View], question: str = "") -> list[SceneDescription]:
        """Return a structured description of each view or, with a question, an answer about each."""
        return list(self.ask((_SCENES, question), views))


@dataclass(frozen=True, slots=True)
class SharedRecognizer:
    """A recognizer whose calls are batched with those of other threads."""

    ask: ModelFunction
    name: str
    """Name of the recognizer's embeddings."""

    def embed_images(self, images: Sequence[Image]) -> Embeddings:
        """Return the embeddings of pictures, shape (pictures, values)."""
        return _stack_rows(self.ask(("embed_images",), images))

    def embed_texts(self, texts: Sequence[str]) -> Embeddings:
        """Return the embeddings of texts, shape (texts, values)."""
        return _stack_rows(self.ask(("embed_texts",), texts))

    def recognize(self, images: Sequence[Image], labels: Sequence[str]) -> NDArray[np.float32]:
        """Return the scores of the labels for each picture, shape (pictures, labels)."""
        return _stack_rows(self.ask(("recognize", tuple(labels)), images))


def model_function(model: Any) -> ModelFunction:
    """Return a function that calls a model of this process: (method and arguments, items) to results."""

    def ask(call: ModelCall, items: Sequence[Any]) -> Sequence[Any]:
        """Return the results of one call of the model for `items`, one each."""
        method, *arguments = call
        if method == _SCENES:  # not every describer has this method
            return describe_scenes(model, items, *arguments)
        results: Sequence[Any] = getattr(model, method)(items, *arguments)
        return results

    return ask


def _stack_rows(rows: Sequence[Any]) -> NDArray[np.float32]:
    """Return rows of float32 as one array, shape (rows, values); (0, 0) without rows."""
    return np.stack(rows) if len(rows) else np.zeros((0, 0), np.float32)


class Pace:
    """A rate limit of evenly spaced requests, safe for several threads."""

    def __init__(self, per_second: float) -> None:
        """Start a rate limit of `per_second` requests a second, above 0."""
        self._apart = 1.0 / per_second
        self._next = 0.0
        self._lock = threading.Lock()

    def reserve(self) -> float:
        """Reserve the next request's turn, and return the seconds until it."""
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next)
            self._next = turn + self._apart
            return turn - now


class Limiter(BaseRateLimiter):
    """A LangChain rate limiter that sleeps until its turn before each request."""

    def __init__(self, reserve: Callable[[], float]) -> None:
        """Take turns from `reserve`, which returns the seconds to wait for each."""
        self._reserve = reserve

    def acquire(self, *, blocking: bool = True) -> bool:
        """Return whether a turn was taken, after sleeping until it; without `blocking`, none is."""
        if not blocking:
            return False
        time.sleep(self._reserve())
        return True

    async def aacquire(self, *, blocking: bool = True) -> bool:
        """Return whether a turn was taken, as `acquire`; it blocks the thread, not only the task."""
        return self.acquire(blocking=blocking)

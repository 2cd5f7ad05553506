"""What a server has been asked, and how it answered."""

from collections import Counter, defaultdict
from threading import Lock
from typing import Any


class Stats:
    """Counts of requests, by endpoint. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._start()

    def reset(self) -> None:
        """Forget all that was counted."""
        with self._lock:
            self._start()

    def count_request(self, endpoint: str, digest: str, *, counts: bool) -> tuple[int, int]:
        """Count a request.

        Args:
            endpoint: its name.
            digest: stands for the request, without its key.
            counts: whether it counts for the quota.

        Returns:
            How often the same request was asked before, and requests so far that count for the quota.
        """
        with self._lock:
            self._requests[endpoint] += 1
            before = self._seen[digest]
            self._seen[digest] += 1
            self._counted += counts
            return before, self._counted

    def count_answer(self, endpoint: str, digest: str, code: int, *, good: bool) -> None:
        """Count an answer; `good` ones are those that a client can use.

        Args:
            endpoint: that was asked.
            digest: of the request.
            code: HTTP status.
            good: whether a client can use the answer.
        """
        with self._lock:
            self._answers[endpoint][str(code)] += 1
            if good:
                self._good[endpoint] += 1
                self._repeated[endpoint] += digest in self._satisfied
                self._satisfied.add(digest)

    def count_fault(self, kind: str) -> None:
        """Count a fault on purpose."""
        with self._lock:
            self._faults[kind] += 1

    def snapshot(self) -> dict[str, Any]:
        """Return all counts, as `/stats` gives them.

        `requests`, `answers` (by HTTP status), `good` (answers that a client can use) and `repeated` (good
        answers to a request that had been answered well before) are by endpoint, `faults` by kind.
        """
        with self._lock:
            return {
                "total": self._requests.total(),
                "requests": dict(sorted(self._requests.items())),
                "answers": {
                    name: dict(sorted(codes.items())) for name, codes in sorted(self._answers.items())
                },
                "good": dict(sorted(self._good.items())),
                "repeated": {name: count for name, count in sorted(self._repeated.items()) if count},
                "faults": dict(sorted(self._faults.items())),
            }

    def _start(self) -> None:
        self._requests: Counter[str] = Counter()
        self._answers: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._good: Counter[str] = Counter()
        self._repeated: Counter[str] = Counter()
        self._faults: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()
        self._satisfied: set[str] = set()
        self._counted = 0

"""What a collection has cost so far, kept as it goes."""

from collections import Counter
from pathlib import Path

from virl.datasets.collect.rows import Row, Rows
from virl.mind.base import Mind
from virl.platform.city import City


class PaidRow(Row):
    """What one piece of work has cost."""

    requests: dict[str, int]
    """Requests sent, by endpoint; questions to a model are `"model"`."""
    usd: float


class Bill:
    """Adds up requests and dollars in a file.

    Args:
        path: the file.
        city: whose meter is read.
        mind: whose exchanges are counted.

    Raises:
        BadInput: the file is broken.
    """

    def __init__(self, path: Path, city: City, mind: Mind | None = None) -> None:
        self._rows = Rows(path, PaidRow)
        self._city = city
        self._mind = mind

    def settle(self) -> None:
        """Write down what was asked since the last call, if anything was."""
        requests: Counter[str] = Counter()
        usd = 0.0
        if self._city.meter:
            spent = self._city.meter.take()
            requests.update(spent.sent)
            usd += spent.usd
        if self._mind:
            asked = [one for one in self._mind.ledger.take() if one.mind != "rules"]
            requests.update({"model": sum(one.attempts for one in asked if not one.cached)})
            usd += sum(one.usd for one in asked)
        requests = +requests
        if requests or usd:
            self._rows.add(PaidRow(id=str(len(self._rows) + 1), requests=dict(requests), usd=usd))

    @property
    def requests(self) -> dict[str, int]:
        """Requests sent in all, by endpoint."""
        total: Counter[str] = Counter()
        for row in self._rows.all:
            total.update(row.requests)
        return dict(sorted(total.items()))

    @property
    def usd(self) -> float:
        """Their list price."""
        return round(sum(row.usd for row in self._rows.all), 6)

"""A city to serve: one that costs money only within a budget, and to clients with a key."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from virl.errors import BadInput
from virl.money.ledger import Ledger
from virl.platform.city.city import City
from virl.platform.providers.cities import Access, city_settings, name_of_city, opened_city
from virl.platform.providers.registry import provider_of
from virl.serve.running import check_key

BOOK = "spending.jsonl"


@contextmanager
def opened_to_serve(
    name: str, key: str | None, budget_usd: float | None, out: Path | None = None
) -> Iterator[City]:
    """Open a city as long as the context is open.

    Args:
        name: as `open_city` takes it.
        key: what clients of the server have to show.
        budget_usd: dollars that the server may spend, over all its starts with the same folder.
        out: the folder of the book of what was spent; by default `runs/serve-NAME`.

    Raises:
        BadInput: the city costs money, and the budget or the key is missing; or it costs none, and there is a
            budget.
        VirlError: as `open_city`.
    """
    if not provider_of(city_settings(name)).may_cost:
        if budget_usd is not None:
            raise BadInput(f"{name} costs nothing: remove --budget-usd")
        access = Access()
    else:
        if budget_usd is None:
            raise BadInput(f"{name} costs money: give --budget-usd, the dollars that the server may spend")
        check_key(key, f"{name}, which costs money,")
        folder = out or Path("runs") / f"serve-{name_of_city(name)}"
        ledger = Ledger(budget_usd, book=folder / BOOK)
        access = Access(ledger=ledger, session=f"serve {folder.resolve()}")
    with opened_city(name, access) as city:
        yield city

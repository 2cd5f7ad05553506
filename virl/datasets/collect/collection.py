"""A data set while it grows: settings and book are kept as it goes, the card is written at the end."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from virl.datasets.collect.dataset import (
    CARD,
    QUESTIONS,
    ROUTES,
    Card,
    QuestionRow,
    RouteRow,
    Rows,
    read_card,
    write_card,
)
from virl.datasets.collect.places import WORK, Work
from virl.errors import BadInput, JournalBroken
from virl.files.writing import refusals_in_a_line, write_whole
from virl.geo.region import Region
from virl.journal.folder import lock_run
from virl.mind.base import Mind
from virl.money.ledger import Ledger
from virl.platform.city.city import City
from virl.version import __version__

_SETTINGS = "settings.json"

_ANY = TypeAdapter(dict[str, dict[str, object]])


class Collection:
    """A folder in which a data set is collected, with its settings.

    Args:
        folder: of the data set; made where it is missing.
        city: where it is collected.
        provider: what makes the city, such as `"google"`.
        region: what part of it.
        mind: who is asked, if anyone.
        ledger: of the city and the mind; its book is where the card's sums come from.

    Raises:
        BadInput: the folder holds something broken, or a data set of another city.
    """

    def __init__(
        self,
        folder: Path,
        city: City,
        provider: str,
        region: Region,
        mind: Mind | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        self.folder = folder
        self.city = city
        self.region = region
        self.mind = mind
        self.ledger = ledger or Ledger()
        self._provider = provider
        self._settings = _read_settings(folder)
        corners = [[corner.lat, corner.lng] for corner in region.corners]
        self.keep("where", {"city": city.name, "region": corners})

    def keep(self, part: str, settings: Mapping[str, object]) -> None:
        """Write the settings of a part, or refuse ones other than those it was begun with.

        Args:
            part: such as `"places"`.
            settings: plain JSON values.

        Raises:
            BadInput: the part was begun with other settings.
            CannotWrite: the disk refuses.
        """
        was, path = self._settings.get(part), self.folder / WORK / _SETTINGS
        if was is not None and was != settings:
            raise BadInput(
                f"{self.folder}: {part} was started with other settings ({_difference(was, settings)}): "
                "use those settings, or collect into another folder"
            )
        self._settings[part] = dict(settings)
        write_whole(path, _ANY.dump_json(self._settings, indent=2), "collect again")

    def finish(self) -> Card:
        """Write the card by what the folder holds, and return it.

        Raises:
            BadInput: a file of the folder is broken.
            CannotWrite: the disk refuses.
        """
        work, paid = Work.open(self.folder), self.ledger.payments()
        counts = {
            "panoramas": len(work.panoramas),
            "places": len(work.places),
            "images": sum(place.image is not None for place in work.places.all),
            "routes": len(Rows(self.folder / ROUTES, RouteRow)),
            "questions": len(Rows(self.folder / QUESTIONS, QuestionRow)),
        }
        card = Card(
            city=self.city.name,
            title=self.city.title,
            provider=self._provider,
            virl=__version__,
            collected=datetime.now(UTC).date().isoformat(),
            region=tuple((corner.lat, corner.lng) for corner in self.region.corners),
            terms=self.city.terms,
            attribution=self.city.notice,
            settings={part: value for part, value in self._settings.items() if part != "where"},
            counts=counts | {f"candidates {fate}": count for fate, count in work.fates().items()},
            requests={**paid.sent, **({"model": paid.calls} if paid.calls else {})},
            usd=round(paid.usd, 6),
        )
        write_card(self.folder, card)
        return card


@contextmanager
def sole_writer(folder: Path) -> Iterator[None]:
    """Keep other processes from collecting into a folder until the context ends.

    Raises:
        BadInput: one of them does.
        CannotWrite: the disk refuses.
    """
    work = folder / WORK
    with refusals_in_a_line(work, "collect again"):
        work.mkdir(parents=True, exist_ok=True)
    try:
        lock = lock_run(work)
    except JournalBroken:
        raise BadInput(
            f"{folder}: another process is collecting into this folder: wait for it, or stop it"
        ) from None
    with lock:
        yield


def _read_settings(folder: Path) -> dict[str, dict[str, object]]:
    """Return the settings in a folder by part, empty for a new one."""
    path = folder / WORK / _SETTINGS
    if not path.exists():
        if (folder / CARD).exists():
            read_card(folder)
            raise BadInput(
                f"{folder}: contains a data set without its {WORK}/ folder: collect into another folder"
            )
        return {}
    try:
        return _ANY.validate_json(path.read_bytes())
    except ValidationError as fault:
        raise BadInput(f"{path}: is damaged ({fault.errors()[0]['msg']})") from None


def _difference(was: Mapping[str, object], asked: Mapping[str, object]) -> str:
    """Return the settings that differ, in words."""
    fields = [name for name in {**was, **asked} if was.get(name) != asked.get(name)]
    return ", ".join(f"{name}: {was.get(name)!r} there, {asked.get(name)!r} here" for name in fields)

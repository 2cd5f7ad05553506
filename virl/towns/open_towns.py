"""Made towns and twins that are open in this process, each shared by all that open it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from weakref import WeakValueDictionary

from virl.platform.city.city import City
from virl.platform.city.left_out import LeftOut, Omission
from virl.towns.streetview import OfflineStreetView


@dataclass(frozen=True, eq=False)
class OpenTown:
    """An opened town, which all runs in it share and none of them changes."""

    city: City
    streetview: OfflineStreetView
    """Street view of the town; each run gets a copy with its own count of the pictures kept on disk."""
    omissions: Sequence[Omission] = ()
    """Parts of the city's file that cannot be used."""

    def lend(self, left_out: LeftOut) -> City:
        """Return the city for one run, and note in `left_out` what of its file the run cannot use."""
        for omission in self.omissions:
            left_out.take(omission)
        # The bound method refers to this town, so that `OpenTowns` has it as long as the city lives.
        streetview = self.streetview.with_own_count()
        return replace(self.city, streetview=streetview, left_out=left_out, close=self._close)

    def _close(self) -> None:
        """Close nothing: other runs may use the town."""


@dataclass(eq=False)
class OpenTowns:
    """Opened towns by key, each opened once. Safe for several threads.

    The town that was opened last stays open, so that runs one after the other share it too.
    """

    _towns: WeakValueDictionary[str, OpenTown] = field(default_factory=WeakValueDictionary)
    _latest: OpenTown | None = None
    _opening: dict[str, Lock] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def get(self, key: str, make: Callable[[], OpenTown]) -> OpenTown:
        """Return a key's town, opened by `make` unless open; the key must tell all that it depends on."""
        with self._lock:
            opening = self._opening.setdefault(key, Lock())
        with opening:
            town = self._towns.get(key)
            if town is None:
                self._towns[key] = town = make()
            self._latest = town
            return town


OPEN_TOWNS = OpenTowns()
"""The opened towns of this process."""

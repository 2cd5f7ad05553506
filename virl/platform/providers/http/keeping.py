"""Caches, recordings and books of services: where replies come from and go to, and what is written down."""

import uuid
from dataclasses import dataclass, field
from typing import Self

from virl import resources
from virl.errors import BadInput
from virl.money.ledger import Ledger
from virl.platform.city.left_out import LeftOut
from virl.platform.providers.http.cache import ReplyCache
from virl.platform.providers.http.recording import Recording, Replay
from virl.platform.providers.provider import Access


@dataclass(frozen=True, slots=True)
class Keeping:
    """The cache, the recording or replay, and the books that the requests of services go through.

    Raises:
        BadInput: a recording is to be made and replayed.
    """

    cache: ReplyCache | None = None
    """Cache of replies; `None` keeps none."""
    scope: str = ""
    """Scope in the cache of usual replies; empty where all runs may see them."""
    session: str = field(default_factory=lambda: session_scope(""))
    """Scope in the cache of replies that only this run may see."""
    record: Recording | None = None
    """Folder that replies are written to; `None` records nothing."""
    replay: Replay | None = None
    """Folder that replies are read from in place of the network; `None` for the network."""
    ledger: Ledger = field(default_factory=Ledger)
    left_out: LeftOut = field(default_factory=LeftOut)
    """Counts of the parts of replies that cannot be read."""

    def __post_init__(self) -> None:
        if self.record and self.replay:
            raise BadInput("a run is either recorded or replayed: give --record or --replay, not both")

    @classmethod
    def of(cls, access: Access, folder: str = "", *, max_mb: float = 512.0) -> Self:
        """Return the cache of this machine, with the ledger and the recording of a run.

        Args:
            access: ledger, mode of the cache, name of the run, and folders of recordings.
            folder: of the cache, in that of this machine; empty keeps no replies.
            max_mb: megabytes that the cache is kept below.

        Raises:
            BadInput: a folder cannot be used, or a recording is to be made and replayed.
        """
        session = session_scope(access.session)
        keeps = folder and access.cache != "off" and access.replay is None
        return cls(
            cache=ReplyCache(resources.cache_home() / folder, max_mb * 1e6) if keeps else None,
            scope=session if access.cache == "session" else "",
            session=session,
            record=Recording(access.record) if access.record else None,
            replay=Replay(access.replay) if access.replay else None,
            ledger=access.ledger,
            left_out=access.left_out,
        )

    @property
    def is_recorded(self) -> bool:
        """Return whether replies are recorded or replayed, so that no cached result may stand for them."""
        return self.record is not None or self.replay is not None

    def close(self) -> None:
        """Close the cache."""
        if self.cache:
            self.cache.close()


def session_scope(session: str) -> str:
    """Return the cache scope of the runs with this name; a new one for an empty name."""
    return f"session {session or uuid.uuid4().hex}"

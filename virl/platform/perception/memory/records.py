"""The lines of `memory.jsonl`. Described in `docs/reference/run-folder.md`."""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from virl.files.json_reading import JsonRecord
from virl.platform.perception.memory.objects import Estimate, Seen, Verdict
from virl.platform.perception.memory.settings import MemorySettings

FORMAT = 1
"""Version of the format; a memory of another version is refused."""


class Begun(JsonRecord):
    """First record of a memory's file."""

    kind: Literal["memory"] = "memory"
    seq: Literal[0] = 0
    format: int = FORMAT
    settings: MemorySettings


class Added(JsonRecord):
    """The sightings of one look around, what became of them, and where their objects now are."""

    kind: Literal["added"] = "added"
    seq: int
    name: str = ""
    """The caller's name of this look around; may be empty."""
    sightings: tuple[Seen, ...]
    verdicts: tuple[Verdict, ...]
    """One for each sighting, in order."""
    estimates: dict[str, Estimate]
    """Position estimates, by object id."""


class Joined(JsonRecord):
    """Two objects that turned out to be one."""

    kind: Literal["joined"] = "joined"
    seq: int
    object_id: str
    """Id of the object that stays."""
    gone_id: str
    """Id of the object whose views it takes over."""
    reason: str
    estimate: Estimate


Record = Begun | Added | Joined
RECORD: TypeAdapter[Record] = TypeAdapter(Annotated[Record, Field(discriminator="kind")])

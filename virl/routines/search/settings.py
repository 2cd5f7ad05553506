"""The section `search:` of a character file."""

from pydantic import Field

from virl.agent.character import CharacterField
from virl.routines.directions.settings import reader_check
from virl.settings.model import Settings


class SearchSettings(Settings):
    """Settings of a search by sight: its goal and limits."""

    goal: str = Field(default="", max_length=500)
    """Goal of the search: a name in quotation marks, a description, or a wish; empty takes the intention."""
    reader: str = "sign-reader"
    """The reader of signs: a name in `platform/models/`, or the path of a model file."""
    decisions: int = Field(default=80, ge=1, le=10_000)
    """Junctions decided at most; the longest average of AgentNav's cities (arXiv 2512.15933)."""


SEARCH: CharacterField[SearchSettings] = CharacterField(
    "search",
    SearchSettings,
    SearchSettings(),
    "What is looked for by sight, and how long.",
    lambda search: [reader_check(search.reader)],
)
FIELDS = (SEARCH,)

"""What a run on R2R is asked."""

from pydantic import Field

from virl.bench.benchmark import BaseOptions
from virl.bench.walks import UserPath
from virl.platform.navigators.instruction.base import PromptForm


class Options(BaseOptions):
    """Options of the episodes, and of who walks."""

    agent: str = "navgpt"
    """Agent to score: `navgpt`, `gold`, `shortest`, `random` or `forward`."""
    data: UserPath | None = None
    """Folder of the data; by default where `virl data r2r` installs it."""
    split: str = "val_unseen"
    """Split, such as `val_unseen` or `val_seen`."""
    mind: str = Field("rules", json_schema_extra={"envvar": "VIRL_MIND"})
    """The mind that decides for navgpt: `rules`, or a chat model such as `openai:gpt-5-mini`."""
    form: PromptForm = "auto"
    """Form of navgpt's questions: `chat` (messages, typed replies), `text` (as published) or `auto`."""
    observations: UserPath | None = None
    """Folder of observations in NavGPT's published layout; without it navgpt reads only the list of links."""

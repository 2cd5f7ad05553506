"""What a run on R2R is asked."""

from pydantic import Field

from virl.bench.benchmark import BaseOptions
from virl.bench.walks import UserPath


class Options(BaseOptions):
    """Which episodes, and who walks."""

    agent: str = "navgpt"
    """`navgpt`, `gold`, `shortest`, `random` or `forward`."""
    data: UserPath | None = None
    """Folder of the data; by default yours (`virl data r2r`)."""
    split: str = "val_unseen"
    """Such as `val_unseen` or `val_seen`."""
    mind: str = Field("rules", json_schema_extra={"envvar": "VIRL_MIND"})
    """What navgpt asks: `rules`, or a chat model such as `openai:gpt-5-mini`."""
    observations: UserPath | None = None
    """Observations in NavGPT's published layout; without them navgpt reads only which ways lead on."""

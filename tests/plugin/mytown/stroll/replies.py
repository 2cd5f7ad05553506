"""What the stroller asks a mind."""

from pydantic import Field

from virl.mind.replies import Reply


class Verdict(Reply):
    """Whether to visit a place."""

    visit: bool
    reason: str = Field(description="In one sentence.")

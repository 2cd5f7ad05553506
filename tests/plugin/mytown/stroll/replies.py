"""What the stroller asks a mind."""

from pydantic import Field

from virl.mind.replies import Reply


class Verdict(Reply):
    """Whether a place is worth a visit."""

    worth_a_visit: bool
    reason: str = Field(description="In one sentence.")

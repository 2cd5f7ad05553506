"""The typed replies that prompts ask for; a prompt's front matter names one of them.

A reply is validated with the prompt's inputs as context, so that it can only choose what was offered.
"""

from pydantic import BaseModel, ConfigDict


class Reply(BaseModel):
    """Base of all replies: immutable, nothing beside the fields named, numbers finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Text(Reply):
    """Plain text, as the model wrote it; it may be empty. Models are asked for it without a schema."""

    text: str

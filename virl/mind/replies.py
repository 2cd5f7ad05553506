"""The typed replies that prompts ask for; a prompt's front matter names one of them.

A reply is validated with the prompt's inputs as context, so that it can only choose what was offered.
"""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict


class Reply(BaseModel):
    """Base of all replies: immutable, nothing beside the fields named, numbers finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:  # noqa: ARG003
        """Return the values that a question's inputs allow for reply fields, by path as `wants.place_type`.

        Models are held to it where their servers can do that; a validator of the type has to refuse the rest.
        """
        return {}


def name_list(inputs: Mapping[str, object], name: str) -> list[str]:
    """Return the names in an input that lists names; empty if the input is no such list."""
    given = inputs.get(name)
    return [one for one in given if isinstance(one, str)] if isinstance(given, list | tuple) else []


def number_range(inputs: Mapping[str, object], name: str, first: int = 0) -> range:
    """Return the numbers, from `first`, of the items of the input list `name`; empty if it is no list.

    Args:
        inputs: of a prompt.
        name: of the input.
        first: number of the first item.
    """
    given = inputs.get(name)
    return range(first, first + len(given)) if isinstance(given, list | tuple) else range(0)


class Text(Reply):
    """Plain text, as the model wrote it; it may be empty. Models are asked for it without a schema."""

    text: str

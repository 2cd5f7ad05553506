"""What the user says while an agent is at work."""

from typing import Protocol

from rich.console import Console

from virl.errors import BadInput


class User(Protocol):
    """Someone who may speak up between two pieces of work."""

    def feedback(self, about: str) -> str | None:
        """What the user says about what was just told, `None` if nothing.

        Args:
            about: what the agent has done or is about to do, in a sentence or two.
        """
        ...


class Silent:
    """A user who lets the agent do."""

    def feedback(self, about: str) -> str | None:  # noqa: ARG002 - as `User.feedback`
        """Nothing."""
        return None


def open_user(feedback: str | None, console: Console) -> User:  # noqa: ARG001
    """The user of a run.

    Args:
        feedback: a file of what they say, `"terminal"` to ask them there, `None` for silence.
        console: where they are asked.

    Raises:
        BadInput: the file is missing or broken.
    """
    if feedback is None:
        return Silent()
    raise BadInput(f"{feedback}: cannot be read")

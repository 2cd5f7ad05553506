"""Descriptions of views by a multimodal chat model."""

from collections.abc import Callable, Sequence
from typing import Literal

from virl.errors import ModelUnavailable
from virl.platform.city.streetview import Image, View
from virl.platform.perception.images import pixels_of
from virl.platform.perception.models import Models
from virl.platform.perception.registry import Kind, ModelSettings

Answer = Callable[[str, Sequence[Image]], str]
"""Function (question, which may be empty; pictures) to the text that a chat model replies."""


class ChatDescriberSettings(ModelSettings):
    """Settings of the describer; the chat model and its prompt are given with `ModelOptions.answer`."""

    kind: Literal["chat-describer"]


def open_chat_describer(_: ChatDescriberSettings, models: Models) -> "ChatDescriber":
    """Return the describer that asks the chat model of the options."""
    return ChatDescriber(models.options.answer or _refuse_answer)


KIND = Kind("describer", ChatDescriberSettings, open_chat_describer)


class ChatDescriber:
    """A describer that asks a chat model, by the function `answer`, about one view at a time."""

    def __init__(self, answer: Answer) -> None:
        """Use a function from (question, pictures) to a chat model's answer."""
        self._answer = answer

    def describe(self, views: Sequence[View], question: str = "") -> list[str]:
        """Return the model's answer for each view, on one line.

        Raises:
            BadInput: a picture is none.
            ModelUnavailable: there is no chat model, or it cannot be reached.
            MindFailed: it gave no answer within its retries.
        """
        pictures = [pixels_of(view) for view in views]
        return [" ".join(self._answer(question, [picture]).split()) for picture in pictures]


def _refuse_answer(_question: str, _images: Sequence[Image]) -> str:
    """Raise `ModelUnavailable` for any question, as no chat model is given."""
    raise ModelUnavailable(
        "the chat describer needs a model that sees pictures: give one with --mind, or use another describer"
    )

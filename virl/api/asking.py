"""Ask a mind a question of your own."""

from collections.abc import Sequence
from typing import overload

from virl.files.pictures import PictureLike, rgb
from virl.mind.base import Mind, Prompt, ReplyT
from virl.mind.open import GivenMind, open_mind, opened_mind
from virl.mind.replies import Text
from virl.money.ledger import Ledger
from virl.platform.city.streetview import View
from virl.resources import cache_home

_PROMPT = "ask"
_QUESTION = "{{ question }}"


@overload
def ask(
    question: str,
    *,
    mind: str | GivenMind,
    reply: None = None,
    images: View | PictureLike | Sequence[View | PictureLike] = (),
    budget_usd: float | None = None,
    price: tuple[float, float] | None = None,
) -> str: ...
@overload
def ask(
    question: str,
    *,
    mind: str | GivenMind,
    reply: type[ReplyT],
    images: View | PictureLike | Sequence[View | PictureLike] = (),
    budget_usd: float | None = None,
    price: tuple[float, float] | None = None,
) -> ReplyT: ...
def ask(
    question: str,
    *,
    mind: str | GivenMind,
    reply: type[ReplyT] | None = None,
    images: View | PictureLike | Sequence[View | PictureLike] = (),
    budget_usd: float | None = None,
    price: tuple[float, float] | None = None,
) -> str | ReplyT:
    """Return a language model's answer to a question: text, or an object of the type `reply`.

    Replies are kept on the disk, so that the same question to the same model costs nothing the second time.
    To ask an agent, run it: `virl.run("aria", fields={"intention": "..."})`.

    Args:
        question: what is asked; the model is sent no other text.
        mind: such as `"openai:gpt-5-mini"` or `"ollama:qwen3"`; or a chat model of LangChain, whose replies
            are not kept; or a `Mind`, whose ledger then holds the exchange. `"rules"` answers virl's own
            prompts only.
        reply: a pydantic model; the answer is one of it. `None` for text.
        images: a picture or several: views, paths, PIL images, or arrays (RGB, gray or RGBA) of uint8 or of
            floats in [0, 1].
        budget_usd: US dollars that the answer may cost at most; a `Mind` keeps its own budget.
        price: US dollars for a million tokens in and out of a chat model; a budget needs it.

    Raises:
        BadInput: there is no such mind, or a picture is none.
        ModelUnavailable: a package or key is missing, or the model cannot be reached.
        MindFailed: no valid reply within the retries.
        BudgetExceeded: the answer may cost more than the budget.
    """
    given = images if isinstance(images, Sequence) and not isinstance(images, str) else [images]
    pictures = [image if isinstance(image, View) else rgb(image) for image in given]
    if isinstance(mind, str):
        asked: Mind = open_mind(mind, cache_dir=cache_home() / "replies", ledger=Ledger(budget_usd))
    else:
        from langchain_core.language_models import BaseChatModel  # noqa: PLC0415 - takes a second to import

        if isinstance(mind, BaseChatModel):
            asked = opened_mind(mind, Ledger(budget_usd), price=price)
        else:
            asked = mind
    if reply is None:
        return asked.ask(_prompt(Text), images=pictures, question=question).text
    return asked.ask(_prompt(reply), images=pictures, question=question)


def _prompt(reply: type[ReplyT]) -> Prompt[ReplyT]:
    """Return the prompt that sends a question as it is, for a reply of this type."""
    return Prompt(_PROMPT, frozenset({"question"}), reply, _QUESTION)

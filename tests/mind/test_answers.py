"""What a library made of a server's reply: counted and kept, or refused in one line."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from virl.mind.chat.answers import check_answer
from virl.mind.providers import Usage
from virl.routines.day.replies import DayEstimate


def answered(**fields: Any) -> AIMessage:
    """A message as a library makes it of a reply, without a look at its types."""
    usage = {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}
    return AIMessage.model_construct(content="Hi.", usage_metadata=usage | fields, tool_calls=[], type="ai")


def nested(depth: int) -> dict[str, Any]:
    inner: dict[str, Any] = {}
    for _ in range(depth):
        inner = {"a": inner}
    return inner


def test_tokens_are_counted() -> None:
    assert check_answer(AIMessage(content="Hi.")) is None
    assert check_answer(answered()) == Usage(7, 0, 2)
    assert check_answer(answered(input_token_details={"cache_read": 3})) == Usage(7, 3, 2)


@pytest.mark.parametrize(
    "answer",
    [
        answered(input_tokens="x"),
        answered(input_tokens=float("nan")),
        answered(output_tokens=-5),
        answered(output_tokens=10**30),
        answered(input_token_details={"cache_read": [1]}),
        HumanMessage(content="Hi."),
        None,
        AIMessage(content="", tool_calls=[{"name": "wave", "args": nested(230), "id": "1"}]),
    ],
)
def test_what_cannot_be_counted_or_kept_is_refused_in_one_line(answer: object) -> None:
    with pytest.raises(ValueError, match=r"reply|number|recursion|depth") as caught:
        check_answer(answer)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("by", ["Infinity", "1e999", '"' + "9" * 400 + '"', "NaN"])
def test_a_feeling_beyond_all_bounds_is_a_fault_of_the_reply(by: str) -> None:
    change = f'{{"by": {by}, "because": ""}}'
    feelings = ", ".join(
        f'"{name}": {change}' for name in ("stress", "joy", "sadness", "hunger", "energy", "pain")
    )
    with pytest.raises(ValueError, match="by"):
        DayEstimate.model_validate_json(f'{{{feelings}, "cost_usd": 1}}')

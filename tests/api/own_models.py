"""A chat model and a character of somebody's own."""

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

import virl


class Dictated(BaseChatModel):
    """A chat model that uses a tool in each turn and finishes in the last one, at once by default."""

    secret: str = "sk-never-told"  # noqa: S105
    tokens: int = 100
    turns: int = 1
    _asked: int = PrivateAttr(0)

    @property
    def asked(self) -> int:
        """How often it was asked."""
        return self._asked

    @property
    def _llm_type(self) -> str:
        return "dictated"

    def bind_tools(self, tools: object, **_: object) -> "Dictated":  # type: ignore[override]
        return self

    def _generate(self, messages: list[BaseMessage], *_: object, **__: object) -> ChatResult:
        self._asked += 1
        use = {"name": "nearby_places", "args": {"radius_m": 40 + self._asked}}
        if self._asked >= self.turns:
            use = {"name": "finish", "args": {"answer": "Here.", "succeeded": True}}
        usage = {"input_tokens": self.tokens, "output_tokens": 10, "total_tokens": self.tokens + 10}
        said = AIMessage("", tool_calls=[use | {"id": str(self._asked)}], usage_metadata=usage)  # type: ignore[arg-type]
        return ChatResult(generations=[ChatGeneration(message=said)])


def zoe(**more: object) -> virl.Character:
    told = {"name": "Zoe", "city": "virlton", "start": "20 Vine Road", "background": "A student."}
    return virl.Character(**told | {"intention": "Look.", "tools": ["look", "nearby_places"]} | more)

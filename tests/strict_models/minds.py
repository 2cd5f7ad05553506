"""A model of each of the four providers, and what was said to it in one form."""

from typing import Any

from strict_models.server import ModelServer, Request
from virl.mind.llm import LLMMind
from virl.mind.open import open_mind

MODELS = {
    "openai": "openai:gpt-4o",
    "anthropic": "anthropic:claude-haiku-4-5",
    "google_genai": "google_genai:gemini-2.5-flash",
    "ollama": "ollama:llama3.2-vision",
}
KEY_VARIABLES = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY")


def model_at(server: ModelServer, query: str = "", **options: Any) -> LLMMind:
    """The provider's model at a server; nothing is kept unless `cache_dir` says where."""
    options = {"cache_dir": None, "base_url": server.url} | options
    mind = open_mind(MODELS[server.provider] + query, **options)
    assert isinstance(mind, LLMMind)
    return mind


def said_to(request: Request) -> list[tuple[str, str]]:
    """Who says what, in order: `system`, `user` or `model`."""
    body = request.body
    if request.provider == "google_genai":
        system = body.get("systemInstruction", {"parts": []})
        parts = [("system", system["parts"])] + [(one["role"], one["parts"]) for one in body["contents"]]
        return [(role, "".join(part["text"] for part in found)) for role, found in parts if found]
    messages = list(body["messages"])
    if request.provider == "anthropic":
        messages.insert(0, {"role": "system", "content": body["system"]})
    return [(one["role"].replace("assistant", "model"), _text(one["content"])) for one in messages]


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(block["text"] for block in content)

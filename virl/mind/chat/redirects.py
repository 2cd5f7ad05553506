"""Redirects of a model's server: those to another origin are not followed."""

from operator import attrgetter
from typing import Any

_CLIENTS = (
    "root_client._client",
    "_client._client",
    "client._api_client._httpx_client",
    "client._client._client",
)
"""Paths to the HTTP client of a LangChain model: of OpenAI, Anthropic and Ollama, Gemini, completions."""


class RedirectRefused(Exception):
    """A server sends requests on to another one, which would get the prompt and the key."""


def refuse_redirects(model: object) -> None:
    """Have a model's HTTP client follow no redirect to another origin."""
    for path in _CLIENTS:
        try:
            hooks = attrgetter(f"{path}.event_hooks")(model)["response"]
        except AttributeError:
            continue
        if _check not in hooks:
            hooks.append(_check)


def _check(response: Any) -> None:
    """See where a response leads; libraries differ in which httpx they use."""
    if not response.has_redirect_location:
        return
    asked, sent_on = response.request.url, response.request.url.join(response.headers["location"])
    if (asked.scheme, asked.host, asked.port) != (sent_on.scheme, sent_on.host, sent_on.port):
        raise RedirectRefused(
            f"the server redirects to {sent_on.scheme}://{sent_on.host}, which is not asked: "
            "set the base URL to it if it is yours"
        )

"""What goes wrong with models, whoever serves them, as one-line errors without secrets."""

from enum import Enum
from socket import gaierror
from typing import Any

from langchain_core.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelNotFoundError,
    ModelPermissionDeniedError,
    ModelRateLimitError,
    ModelTimeoutError,
)
from langchain_core.language_models import BaseLanguageModel
from pydantic import SecretStr

from virl.mind.prices import Usage
from virl.redaction import Redaction
from virl.retry import asked_wait

MAX_TEXT = 200  # characters of a server's own words that are shown (chosen)


class LLMFault(Enum):
    """Why a request failed."""

    LIMITED = "limited"
    """Too many requests: worth another try later."""
    BROKEN = "broken"
    """The server failed, is too slow or out of reach: worth another try."""
    NO_QUOTA = "no quota"
    KEY = "key"
    UNKNOWN_MODEL = "unknown model"
    CUT_OFF = "cut off"
    """The reply ran into the token limit."""
    REFUSED = "refused"
    """The model or its guard will not answer."""
    OTHER = "other"


_KINDS: tuple[tuple[type[Exception], LLMFault], ...] = (
    (ModelAuthenticationError, LLMFault.KEY),
    (ModelPermissionDeniedError, LLMFault.KEY),
    (ModelNotFoundError, LLMFault.UNKNOWN_MODEL),
    (ModelRateLimitError, LLMFault.LIMITED),
    (ModelTimeoutError, LLMFault.BROKEN),
    (ModelConnectionError, LLMFault.BROKEN),
    (ModelAPIError, LLMFault.BROKEN),
    (TimeoutError, LLMFault.BROKEN),
    (ConnectionError, LLMFault.BROKEN),
)
_STATUSES = {
    401: LLMFault.KEY,
    403: LLMFault.KEY,
    404: LLMFault.UNKNOWN_MODEL,
    408: LLMFault.BROKEN,
    429: LLMFault.LIMITED,
}
# Raised by the OpenAI client, which is not imported here.
_NAMES = {
    "LengthFinishReasonError": LLMFault.CUT_OFF,
    "ContentFilterFinishReasonError": LLMFault.REFUSED,
    "APIConnectionError": LLMFault.BROKEN,
    "APITimeoutError": LLMFault.BROKEN,
}

# Raised by HTTP clients, which are not imported here either.
_NEVER_LEFT = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol"})


def classify(error: Exception) -> LLMFault:
    """Which sort of failure an exception of any provider is."""
    if getattr(error, "code", None) == "insufficient_quota":
        return LLMFault.NO_QUOTA
    if type(error).__name__ in _NAMES:
        return _NAMES[type(error).__name__]
    for kind, fault in _KINDS:
        if isinstance(error, kind):
            return fault
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return LLMFault.BROKEN if status >= 500 else _STATUSES.get(status, LLMFault.OTHER)
    return LLMFault.OTHER


def retry_after(error: Exception) -> float | None:
    """Seconds that the server asks to wait, from its `Retry-After` header; `None` if it does not say."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    return asked_wait(headers.get("retry-after"))


def usage_in(error: Exception) -> Usage:
    """Tokens that a failed request cost, where the exception carries them (a reply cut off does)."""
    usage = getattr(getattr(error, "completion", None), "usage", None)
    if usage is None:
        return Usage()
    counts = (usage.prompt_tokens, usage.completion_tokens)
    if not all(isinstance(count, int) and count >= 0 for count in counts):
        return Usage()
    return Usage(input_tokens=counts[0], output_tokens=counts[1])


def may_be_billed(error: Exception) -> bool:
    """Whether a request that failed may have been answered all the same: it left, and nothing came back."""
    if isinstance(getattr(error, "status_code", None), int) or classify(error) is not LLMFault.BROKEN:
        return False
    cause: BaseException | None = error
    while cause is not None:
        if type(cause).__name__ in _NEVER_LEFT or isinstance(cause, ConnectionRefusedError | gaierror):
            return False
        cause = cause.__cause__ or cause.__context__
    return True


def redaction_of(model: BaseLanguageModel[Any]) -> Redaction:
    """Takes out the keys and the URL's credentials that a model holds, and those of the environment."""
    values = [getattr(model, field, None) for field in type(model).model_fields]
    keys = [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
    return Redaction.of(keys, urls=[value for value in values if isinstance(value, str) and "://" in value])


def in_a_line(text: str, redaction: Redaction) -> str:
    """The text on one line, shortened, without anything that is or looks like a key."""
    text = " ".join(redaction.text(text).split())
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}\N{HORIZONTAL ELLIPSIS}"

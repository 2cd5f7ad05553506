"""Secrets, such as keys and passwords: finding them, and removing them from texts, replies, logs and errors.

redaction = Redaction.of([key], urls=[base_url])
redaction.text("key=...")  # "key=***"
"""

import base64
import functools
import html
import json
import logging
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

from virl.plain_text import plain_lines

BLOT = "***"
"""Text that replaces secrets."""
SHORTEST_SECRET = 16
"""Fewest characters of a secret that is hidden; a shorter one counts as a placeholder, such as `any`.

Texts hold such values by chance (chosen; the shortest keys of the providers that virl knows have 32)."""

PICTURES = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"RIFF", b"GIF8")
"""First bytes of JPEG, PNG, WebP and GIF files, by which pictures are recognized."""

_SECRET_VARIABLE = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD)$")
_SECRET_PARAMETER = re.compile(r"key|token|secret|sig|pass|pwd|auth|cred", re.IGNORECASE)
_KEY_SHAPES = re.compile(r"\b(?:sk|pk|rk|gsk|xai)-[\w*.\-]{4,}|\bAIza[\w\-]{10,}|(?i:bearer)\s+[\w.\-*]+")
_USERINFO = re.compile(r"://[^\s/?#'\"<>]*@")
_PARAMETER = re.compile(
    r"(?<=[?&;])([\w.\-]*(?:key|token|secret|signature|password)=)[^&;#\s'\"<>]+", re.IGNORECASE
)
_BASIC = "Basic "
_ESCAPED = re.compile(r"%[0-9A-F]{2}")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Redaction:
    """A remover of known secrets from texts, in every spelling that servers use; its `repr` shows none."""

    _spellings: tuple[str, ...] = ()

    @classmethod
    def of(cls, secrets: Iterable[str] = (), urls: Iterable[str] = ()) -> Self:
        """Return a redaction of these secrets, the credentials in these URLs, and those in the environment.

        Args:
            secrets: secrets; those shorter than `SHORTEST_SECRET` are left alone.
            urls: URLs such as `https://user:password@host/v1?api_key=...`.
        """
        own = set(secrets)
        for name, value in os.environ.items():
            if _SECRET_VARIABLE.search(name):
                own.add(value.strip())
            if "://" in value:
                own |= url_secrets(value.strip())
        for url in urls:
            own |= url_secrets(url)
        hidden = (one for one in own if len(one) >= SHORTEST_SECRET or one.startswith(_BASIC))
        spelled = {text for one in hidden for text in _spellings_of(one)}
        return cls(tuple(sorted(spelled, key=lambda text: (-len(text), text))))

    def __repr__(self) -> str:
        """Return how many spellings of secrets are hidden, and none of them."""
        return f"Redaction({len(self._spellings)} spellings)"

    def exact(self, text: str) -> str:
        """Return a text with the known secrets replaced by `BLOT`, all else unchanged."""
        for hidden in self._spellings:
            text = text.replace(hidden, BLOT)
        return text

    def text(self, text: str) -> str:
        """Return a text with the known secrets, and all that looks like a key, replaced by `BLOT`."""
        text = _KEY_SHAPES.sub(BLOT, self.exact(text))
        return _PARAMETER.sub(rf"\1{BLOT}", _USERINFO.sub(f"://{BLOT}@", text))

    def is_in(self, data: bytes) -> bool:
        """Return whether bytes contain a known secret."""
        return any(hidden.encode() in data for hidden in self._spellings)

    def body(self, data: bytes) -> bytes:
        """Return the bytes of a reply with the known secrets replaced by `BLOT`; would spoil pictures."""
        for hidden in self._spellings:
            data = data.replace(hidden.encode(), BLOT.encode())
        return data

    def tree(self, value: Any) -> Any:
        """Return nested plain data with the known secrets replaced in all texts and names."""
        if isinstance(value, str):
            return self.exact(value)
        if isinstance(value, dict):
            return {self.tree(name): self.tree(one) for name, one in value.items()}
        if isinstance(value, list):
            return [self.tree(one) for one in value]
        return value


class RedactingFormatter(logging.Formatter):
    """A log formatter that removes secrets and control characters from all records, tracebacks included."""

    def __init__(self, pattern: str) -> None:
        """Keep a format string of `logging`, and the secrets in the environment."""
        super().__init__(pattern)
        self._redaction = Redaction.of()

    def format(self, record: logging.LogRecord) -> str:
        """Return a log record as text, without secrets and control characters."""
        return self._redaction.text(plain_lines(super().format(record)))


def url_secrets(url: str) -> frozenset[str]:
    """Return the user, password and keys in a URL, and the header "Basic ..." for user and password."""
    try:
        parts = urlsplit(url)
        fields = parse_qsl(parts.query)
    except ValueError:
        return frozenset()
    found = {value for name, value in fields if _SECRET_PARAMETER.search(name)}
    user_info, at, _ = parts.netloc.rpartition("@")
    if at:
        user, _, password = user_info.partition(":")
        pair = f"{unquote(user)}:{unquote(password)}"
        found |= {user_info, user, password, unquote(user), unquote(password), pair}
        found.add(f"{_BASIC}{_base64(pair)}")
    return frozenset(found)


def shown_url(url: str) -> str:
    """Return a URL for messages, with `BLOT` for user and password, and one for query and fragment."""
    address = re.split(r"[?#]", url, maxsplit=1)[0]
    hidden = f"?{BLOT}" if len(address) < len(url) else ""
    scheme, separator, rest = address.rpartition("://")
    if "@" in rest:
        rest = f"{BLOT}@{rest.rpartition('@')[2]}"
    return Redaction.of(urls=[url]).text(f"{scheme}{separator}{rest}") + hidden


@functools.cache
def warn_of_placeholder(name: str, length: int) -> None:
    """Warn, once a process, if the key in the variable `name`, of `length` characters, is too short to hide.

    Args:
        name: the name of the environment variable.
        length: the number of characters of its value; 0 warns of nothing.
    """
    if 0 < length < SHORTEST_SECRET:
        _log.warning(
            "%s has fewer than %d characters: it is used, but taken for a placeholder and not hidden where "
            "it appears",
            name,
            SHORTEST_SECRET,
        )


def _spellings_of(secret: str) -> set[str]:
    """Return the spellings of a secret in plain text, URLs, JSON, HTML and base64."""
    data = secret.encode("utf-8", "surrogateescape")
    in_urls = {quote(data, safe=""), quote(data), quote_plus(data)}
    lower = {_ESCAPED.sub(lambda found: found[0].lower(), text) for text in in_urls}
    in_json = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    slashed = {text.replace("/", "\\/") for text in in_json}
    coded = _base64(secret).rstrip("=")
    in_base64 = {coded, coded.translate(str.maketrans("+/", "-_"))}
    return {secret, html.escape(secret), *in_urls, *lower, *in_json, *slashed, *in_base64}


def _base64(text: str) -> str:
    """Return a text's UTF-8 bytes in base64."""
    return base64.b64encode(text.encode("utf-8", "surrogateescape")).decode("ascii")

"""The key and the signing secret: put on requests where they leave, taken out of all that comes back."""

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass, field
from typing import Self

import httpx

from virl.errors import BadInput
from virl.platform.providers.http.keys import check_key, key_in_environment
from virl.redaction import Redaction

KEY_VARIABLE = "GOOGLE_MAPS_API_KEY"
SECRET_VARIABLE = "GOOGLE_MAPS_SIGNING_SECRET"  # noqa: S105  # its name, not the secret
KEY_HEADER = "X-Goog-Api-Key"


@dataclass(frozen=True, slots=True)
class Keys:
    """A Google API key and an optional signing secret; its `repr` shows neither.

    Raises:
        BadInput: the key holds what no key does, or the secret is not base64.
    """

    key: str = field(repr=False)
    secret: str = field(default="", repr=False)
    redaction: Redaction = field(init=False, repr=False, compare=False)
    """Redaction that takes key and secret out of replies."""

    def __post_init__(self) -> None:
        check_key(self.key, KEY_VARIABLE)
        try:
            base64.urlsafe_b64decode(self.secret)
        except (binascii.Error, ValueError):
            raise BadInput(f"{SECRET_VARIABLE} is not base64: copy it from Google's console again") from None
        object.__setattr__(self, "redaction", Redaction.of((self.key, self.secret)))

    @classmethod
    def from_environment(cls) -> Self | None:
        """Return the key and secret of the environment; `None` without a key."""
        key, secret = key_in_environment(KEY_VARIABLE), key_in_environment(SECRET_VARIABLE)
        return cls(key, secret) if key else None

    def proof(self, request: httpx.Request) -> tuple[httpx.URL, httpx.Headers]:
        """Return (URL, headers) of a request with key and signature, as its extensions ask.

        A request says what it needs in its extensions: `google_key` is `"query"`, `"header"` or absent,
        `google_signed` asks for a signature, and `google_tokens` are further fields of the query.
        """
        url, headers = request.url, request.headers.copy()
        url = url.copy_merge_params(request.extensions.get("google_tokens", {}))
        where = request.extensions.get("google_key")
        if where == "header":
            headers[KEY_HEADER] = self.key
        elif where == "query":
            url = url.copy_add_param("key", self.key)
            if self.secret and request.extensions.get("google_signed"):
                url = url.copy_add_param("signature", self.sign(url.raw_path.decode("ascii")))
        return url, headers

    def sign(self, path_and_query: str) -> str:
        """Return Google's signature of a URL's path and query: HMAC-SHA1 in URL-safe base64."""
        secret = base64.urlsafe_b64decode(self.secret)
        digest = hmac.new(secret, path_and_query.encode(), hashlib.sha1).digest()
        return base64.urlsafe_b64encode(digest).decode()

"""Servers of OpenStreetMap's data: asked one request at a time, at the pace that they ask for."""

import base64
import html
import re
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import BinaryIO

import httpx

from virl.errors import BadInput, ProviderError
from virl.platform.providers.http.faults import HttpFault, shortened, wait_of
from virl.platform.providers.http.settings import Timeouts
from virl.platform.providers.http.wire import Received, Wire
from virl.redaction import Redaction, shown_url
from virl.retry import RetryPolicy

BUSY = frozenset({429, 502, 503, 504})
"""Statuses after which another try may help."""
FIRST_WAIT_S = 5.0  # doubles with every try; chosen
LONGEST_WAIT_S = 120.0  # a server that asks for more is not waited for; chosen
GIVE_UP_S = 600.0  # after the first request, all tries and pauses together; chosen
TRIES = 8
_LONGEST_PAGE = 20_000  # bytes of an error page that are looked at

LATER = "try again later, or name another server"

_TAG = re.compile(r"<[^<>]*>")

Tell = Callable[[str], None]
"""Takes a line about what is going on."""


@dataclass(frozen=True, slots=True)
class _Credentials:
    """User, password and query of a URL, put on requests where they leave. Do not show in its `repr`."""

    url: httpx.URL = field(repr=False)
    redaction: Redaction = field(repr=False)

    def proof(self, request: httpx.Request) -> tuple[httpx.URL, httpx.Headers]:
        """URL and headers of a request with what the server's own URL holds."""
        headers = request.headers.copy()
        if self.url.userinfo:
            pair = f"{self.url.username}:{self.url.password}".encode()
            headers["authorization"] = f"Basic {base64.b64encode(pair).decode('ascii')}"
        return request.url.copy_merge_params(self.url.params), headers


class OsmServer:
    """A server that is asked with GET, and whose URL may hold credentials, which are never shown.

    Args:
        kind: what it is, such as `"Overpass"`.
        url: of what is asked.
        source: where the URL was given, for the error.
        tell: told before each pause.
        timeouts: of each request.
        max_reply_mb: a larger reply is not read to its end.
        retries: by default those of a command that is waited for; then a server that cannot be reached is
            not asked again.

    Raises:
        BadInput: the URL is none.
    """

    def __init__(
        self,
        kind: str,
        url: str,
        source: str,
        tell: Tell,
        *,
        timeouts: Timeouts,
        max_reply_mb: float,
        retries: RetryPolicy | None = None,
    ) -> None:
        given = _parsed(url, source)
        self._bare = given.copy_with(userinfo=b"", query=None, fragment=None)
        self.redaction = Redaction.of(urls=[url])
        self.name = f"{kind} ({self._bare.host})"
        self._tell = tell
        self._retries = retries
        host = f"{self._bare.scheme}://{self._bare.netloc.decode('ascii')}"
        self._wire = Wire(
            [host], _Credentials(given, self.redaction), timeouts=timeouts, max_reply_mb=max_reply_mb
        )

    def close(self) -> None:
        """Close the connections."""
        self._wire.close()

    @property
    def url(self) -> str:
        """Its own URL, without credentials."""
        return str(self._bare)

    def sibling(self, name: str) -> str:
        """The URL beside the server's own: `.../api/interpreter` gives `.../api/NAME`."""
        return str(self._bare.join(name))

    def below(self, path: str) -> str:
        """The URL below the server's own: `.../routed-foot` gives `.../routed-foot/PATH`."""
        return f"{str(self._bare).rstrip('/')}/{path}"

    def once(self, url: str, seconds: float) -> Received | HttpFault:
        """Ask something small, once; a fault where the status is not 200.

        Args:
            url: without credentials, on the same host.
            seconds: to wait for it.
        """
        extensions = {"timeout": httpx.Timeout(seconds).as_dict()}
        return self._judged(self._wire.send(self._wire.request("GET", url, extensions=extensions)))

    def ask(
        self,
        query: Mapping[str, str],
        *,
        url: str = "",
        body: Mapping[str, object] | None = None,
        into: BinaryIO | None = None,
        slot: Callable[[], float | None] = lambda: None,
        turn: Callable[[], None] = lambda: None,
        judge: Callable[[Received], HttpFault | None] = lambda _: None,
        answers: Collection[int] = (httpx.codes.OK,),
        remedy: str = LATER,
    ) -> Received:
        """The reply to a query; a busy server is waited for, within bounds.

        Args:
            query: fields of the query.
            url: what is asked, on the same host; by default the server's own.
            body: sent as JSON with POST; `None` asks with GET.
            into: takes the reply instead; emptied before each try.
            slot: seconds after which the server says it is free, for a refusal that does not say it.
            turn: called before each try, to wait for its turn.
            judge: what is wrong with an answer.
            answers: statuses of answers; the rest are refusals.
            remedy: what to do about a refusal that stays.

        Raises:
            ProviderError: it did not answer, or refused.
        """

        def attempt() -> Received | HttpFault:
            if into:
                into.seek(0)
                into.truncate()
            turn()
            request = self._wire.request(
                "POST" if body else "GET", url or str(self._bare), query=query, body=body
            )
            outcome = self._judged(self._wire.send(request, into=into), answers)
            if isinstance(outcome, Received) and (fault := judge(outcome)):
                outcome = replace(fault, reason=self.redaction.text(fault.reason))
            if isinstance(outcome, HttpFault) and outcome.status == 429 and outcome.wait is None:
                return replace(outcome, wait=slot())
            return outcome

        began = time.monotonic()

        def failure(outcome: Received | HttpFault) -> HttpFault | None:
            if isinstance(outcome, Received):
                return None
            within = time.monotonic() - began + (outcome.wait or 0.0) <= GIVE_UP_S
            may_pass = outcome.status in BUSY or (outcome.again and self._retries is not None)
            return replace(outcome, again=may_pass and within)

        policy = self._retries or RetryPolicy(TRIES - 1, FIRST_WAIT_S, LONGEST_WAIT_S)
        outcome = policy.run(attempt, failure, tell=self._pause)
        if isinstance(outcome, Received):
            return outcome
        if outcome.status in BUSY:
            waiting = f", and asks to wait {outcome.wait:.0f} s" if outcome.wait else ""
            raise ProviderError(self.name, f"{outcome.reason}{waiting}", remedy, status=outcome.status)
        raise ProviderError(self.name, outcome.reason, remedy, status=outcome.status, code=outcome.code)

    def tell_pause(self, why: str, seconds: float) -> None:
        """Say that a pause follows."""
        self._tell(f"{self.name}: {why}: waiting {max(1, round(seconds))} s")

    def _pause(self, outcome: Received | HttpFault, seconds: float) -> None:
        if isinstance(outcome, HttpFault):
            self.tell_pause(outcome.reason, seconds)

    def _judged(
        self, outcome: Received | HttpFault, answers: Collection[int] = (httpx.codes.OK,)
    ) -> Received | HttpFault:
        if isinstance(outcome, HttpFault):
            return replace(outcome, reason=self.redaction.text(outcome.reason))
        if outcome.status in answers:
            return outcome
        reason = f"status {outcome.status}"
        if outcome.status == 429:
            reason = "too many requests from this address"
        elif outcome.status in BUSY:
            reason = f"too busy (status {outcome.status})"
        elif words := self.words(outcome.body):
            reason = f"status {outcome.status}, {words}"
        return HttpFault(reason, again=False, status=outcome.status, wait=wait_of(outcome.headers))

    def words(self, body: bytes) -> str:
        """What a page says, in one short line without its tags and without keys."""
        page = body[:_LONGEST_PAGE].decode("utf-8", "replace")
        _, begun, content = page.partition("<body")
        text = html.unescape(_TAG.sub(" ", f"<{content}" if begun else page))
        return shortened(self.redaction.text(text))


def _parsed(url: str, source: str) -> httpx.URL:
    wrong = f"{source}: {shown_url(url)!r} must be a URL, such as https://overpass.example/api/interpreter"
    try:
        parsed = httpx.URL(url.strip())
    except (httpx.InvalidURL, ValueError):
        raise BadInput(wrong) from None
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise BadInput(wrong)
    return parsed

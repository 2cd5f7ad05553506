"""Queries to an Overpass server, and all that is mapped in a box."""

import re
import time
from pathlib import Path

from virl.errors import ProviderError, Verdict
from virl.osm.box import Box
from virl.platform.providers.http.osm_servers import (
    LATER,
    PATIENT,
    MapServer,
    MapServiceSettings,
    load_open_maps,
    map_judge,
)
from virl.platform.providers.http.replies import (
    ExpectedBody,
    HttpFault,
    HttpReply,
    ShapeT,
    json_object,
    page_words,
    shorten_words,
)
from virl.platform.providers.http.service import Tell
from virl.platform.providers.http.settings import Timeouts
from virl.platform.providers.http.stored_replies import Keeping

LARGEST_MB = 256.0
"""Largest reply in megabytes of XML; chosen: 4 km2 of a dense city have about 50."""
QUERY_S = 120
"""Most seconds that the server may work on a query."""
STATUS_S = 10.0
"""Largest time in seconds to wait for the server's status; without it, no free slot is waited for."""

SMALLER = "choose a smaller box, or try again later"
"""Advice on a reply with a remark of the server, as after a query too slow or too large for it."""

_FREE = re.compile(r"^(\d+) slots? available now", re.MULTILINE)
"""Pattern of the number of free slots in the server's status."""
_NEXT = re.compile(r"^Slot available after: .*?\bin (-?\d+) seconds", re.MULTILINE)
"""Pattern of the seconds until a slot is free in the server's status."""
_UNLIMITED = re.compile(r"^Rate limit: 0\s*$", re.MULTILINE)
"""Pattern of the line in a server's status that says that its queries are not limited by slots."""
_BEYOND = re.compile(r"timed out|out of memory|exceeds|too (?:large|many)|maxsize", re.IGNORECASE)
"""Pattern of words in a remark on a query that took too much, so that a smaller one may be answered."""
_REMARK = re.compile(rb"<remark>(.*?)(?:</remark>|$)", re.DOTALL)
"""Pattern of a remark in a reply of XML."""
_ROOT = re.compile(rb"^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>\s*)?<osm[\s>]")
"""Pattern of the beginning of OpenStreetMap XML."""
_PIECE = 1 << 20
"""Number of bytes of a file that are read at a time."""
_OVERLAP = 4096
"""Number of bytes that two pieces of a file overlap, to find words that lie across them."""


def query_of(box: Box) -> str:
    """Return the Overpass QL for all nodes, ways and multipolygons in a box.

    Other relations, such as borders and bus routes, are left out: no town is built of them. Parks are kept.
    """
    area = ",".join(f"{degrees:.7f}" for degrees in box.degrees)
    return (
        f"[out:xml][timeout:{QUERY_S}][maxsize:{int(2 * LARGEST_MB * 1e6)}][bbox:{area}];"
        f'(node({area});way({area});relation["type"="multipolygon"]({area});'
        f'relation["type"="boundary"]["leisure"]({area}););(._;>;);out body;'
    )


def _judge(expected: ExpectedBody, reply: HttpReply) -> HttpReply | HttpFault:
    """Return the reply if it is good, or else its fault; a reply with a remark is incomplete, so faulty."""
    judged = map_judge()(expected, reply)
    remark = json_object(reply.body).get("remark") if expected.kind == "object" else None
    if isinstance(judged, HttpFault) or not remark:
        return judged
    verdict: Verdict = "smaller" if _BEYOND.search(str(remark)) else "refused"
    return HttpFault(shorten_words(remark), verdict)


class Overpass:
    """A client of an Overpass server.

    Args:
        settings: URL, pace and policy of the service.
        keeping: cache, recording and ledger.
        url: URL of its interpreter; by default that of `VIRL_OVERPASS_URL`, or the public server.
        source: words for the place where `url` was given, for the error.
        tell: function that shows a line before each pause, for a command that its user waits for.

    Raises:
        BadInput: the URL is none.
    """

    def __init__(
        self,
        settings: MapServiceSettings,
        keeping: Keeping,
        url: str | None = None,
        *,
        source: str = "the city's file",
        tell: Tell | None = None,
    ) -> None:
        """Make the client of the interpreter at `url`, or at the URL of `settings`; nothing is sent yet."""
        self._server = MapServer(
            settings, keeping, url, source=source, judge=_judge, slot=self._slot, tell=tell, remedy=LATER
        )
        self.title, self.close = self._server.title, self._server.close

    def read(self, query: str, shape: type[ShapeT]) -> ShapeT:
        """Return the JSON that answers a query in Overpass QL, as its model `shape`.

        Raises:
            ProviderError: the server did not answer, or refused; its verdict is `smaller` where a query for
                less may be answered.
        """
        return self._server.service.read(self._server.request("overpass", {"data": query}), shape)

    def fetch(self, box: Box, file: Path) -> None:
        """Write the map of a box to a file, as OpenStreetMap XML.

        Raises:
            ProviderError: the server did not answer, refused, or gave no whole reply.
        """
        service = self._server.service
        wait = self._slot()
        if wait and wait <= PATIENT.longest_wait:
            service.tell_pause("no slot is free", wait)
            time.sleep(wait)
        with file.open("wb") as into:
            service.download(self._server.request("", {"data": query_of(box)}), into)
        self._check(file)

    def _slot(self) -> float | None:
        """Return the seconds until the server takes the next query; `None` if now or not told."""
        reply = self._server.service.ask_once(self._server.url.url_beside("status"), STATUS_S)
        status = reply.body.decode("utf-8", "replace") if reply else ""
        free = _FREE.search(status)
        if _UNLIMITED.search(status) or (free and int(free[1]) > 0):
            return None
        waits = [max(0.0, float(seconds)) for seconds in _NEXT.findall(status)]
        return min(waits) + 1 if waits else None

    def _check(self, file: Path) -> None:
        """Raise `ProviderError` unless a file is whole OpenStreetMap XML without remark or secrets."""
        redaction = self._server.url.redaction

        def words(page: bytes) -> str:
            """Return a server's page as one line of plain text, with the URL's secrets redacted."""
            return redaction.text(page_words(redaction.body(page)))

        tail = b""
        with file.open("rb") as reply:
            head = reply.read(_OVERLAP)
            if not _ROOT.match(head):
                raise self._fault(f"the reply is no OpenStreetMap XML ({words(head)})", LATER)
            reply.seek(0)
            while piece := reply.read(_PIECE):
                seen = tail + piece
                if _REMARK.search(seen):
                    raise self._fault(words(_REMARK.findall(seen + reply.read(_OVERLAP))[0]), SMALLER)
                if redaction.is_in(seen):
                    raise self._fault("the reply has the key in it", "name another server")
                tail = seen[-_OVERLAP:]
        if not tail.rstrip().endswith(b"</osm>"):
            raise self._fault("the reply is cut short: it has no </osm> at its end", LATER)

    def _fault(self, reason: str, remedy: str) -> ProviderError:
        """Return the error of this server for a reason, with the remedy."""
        return ProviderError(self.title, reason, remedy)


def download_server(url: str | None, tell: Tell) -> Overpass:
    """Return the Overpass client of a command that fetches one box, and tells its user of each pause.

    It asks the interpreter at `url`, by default that of `VIRL_OVERPASS_URL`, or the public server.

    Raises:
        BadInput: the URL is none.
    """
    timeouts = Timeouts(connect=10, read=QUERY_S + 60, total=QUERY_S + 240)
    settings = load_open_maps().overpass.patient(timeouts, LARGEST_MB)
    return Overpass(settings, Keeping(), url, source="--server", tell=tell)

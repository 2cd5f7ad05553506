"""Asks an Overpass server for all that is mapped in a box."""

import os
import re
import time
from pathlib import Path

from virl.errors import ProviderError
from virl.platform.providers.http.faults import HttpFault
from virl.platform.providers.http.settings import Timeouts
from virl.platform.providers.osm.box import Box
from virl.platform.providers.osm.server import LATER, LONGEST_WAIT_S, OsmServer, Tell

URL = "https://overpass-api.de/api/interpreter"
VARIABLE = "VIRL_OVERPASS_URL"
LARGEST_MB = 256.0
"""Of a reply as XML; chosen: 4 km2 of a dense city have about 50."""
QUERY_S = 120  # that the server may work on it
STATUS_S = 10.0

SMALLER = "choose a smaller box, or try again later"

_FREE = re.compile(r"^(\d+) slots? available now", re.MULTILINE)
_NEXT = re.compile(r"^Slot available after: .*?\bin (-?\d+) seconds", re.MULTILINE)
_UNLIMITED = re.compile(r"^Rate limit: 0\s*$", re.MULTILINE)
_REMARK = re.compile(rb"<remark>(.*?)(?:</remark>|$)", re.DOTALL)
_ROOT = re.compile(rb"^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>\s*)?<osm[\s>]")
_PIECE = 1 << 20
_OVERLAP = 4096  # so that what lies across two pieces is seen


def query_of(box: Box) -> str:
    """The nodes, ways and multipolygons of a box in Overpass QL, with all nodes and members that they have.

    Other relations, such as borders and bus routes, are left out: no town is built of them.
    """
    area = ",".join(f"{degrees:.7f}" for degrees in box.degrees)
    return (
        f"[out:xml][timeout:{QUERY_S}][maxsize:{int(2 * LARGEST_MB * 1e6)}][bbox:{area}];"
        f'(node({area});way({area});relation["type"="multipolygon"]({area}););(._;>;);out body;'
    )


def free_slot_in(server: OsmServer) -> float | None:
    """Seconds until a server takes a query of this address; `None` if it does not say, or now."""
    reply = server.once(server.sibling("status"), STATUS_S)
    if isinstance(reply, HttpFault):
        return None
    said = reply.body.decode("utf-8", "replace")
    free = _FREE.search(said)
    if _UNLIMITED.search(said) or (free and int(free[1]) > 0):
        return None
    waits = [max(0.0, float(seconds)) for seconds in _NEXT.findall(said)]
    return min(waits) + 1 if waits else None


class Overpass:
    """An Overpass server.

    Args:
        url: of its interpreter; by default that of `VIRL_OVERPASS_URL`, or the public server.
        tell: told before each pause.

    Raises:
        BadInput: the URL is none.
    """

    def __init__(self, url: str | None, tell: Tell) -> None:
        given = url or os.environ.get(VARIABLE, "").strip()
        self._server = OsmServer(
            "Overpass",
            given or URL,
            "--server" if url else VARIABLE,
            tell,
            timeouts=Timeouts(connect=10, read=QUERY_S + 60, total=QUERY_S + 240),
            max_reply_mb=LARGEST_MB,
        )

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return self._server.name

    def close(self) -> None:
        """Close the connections."""
        self._server.close()

    def fetch(self, box: Box, file: Path) -> None:
        """Write what is mapped in a box to a file, as OpenStreetMap XML.

        Raises:
            ProviderError: the server did not answer, refused, or gave no whole reply.
        """
        wait = self._slot()
        if wait and wait <= LONGEST_WAIT_S:
            self._server.tell_pause("no slot is free", wait)
            time.sleep(wait)
        with file.open("wb") as into:
            self._server.ask({"data": query_of(box)}, into=into, slot=self._slot)
        self._check(file)

    def _slot(self) -> float | None:
        return free_slot_in(self._server)

    def _check(self, file: Path) -> None:
        """See that a reply is whole OpenStreetMap XML without an error of the server or a key in it."""
        tail = b""
        with file.open("rb") as reply:
            head = reply.read(_OVERLAP)
            if not _ROOT.match(head):
                raise self._fault(f"the reply is no OpenStreetMap XML ({self._server.words(head)})", LATER)
            reply.seek(0)
            while piece := reply.read(_PIECE):
                seen = tail + piece
                if _REMARK.search(seen):
                    remark = _REMARK.findall(seen + reply.read(_OVERLAP))[0]
                    raise self._fault(self._server.words(remark), SMALLER)
                if self._server.redaction.is_in(seen):
                    raise self._fault("the reply has the key in it", "name another server")
                tail = seen[-_OVERLAP:]
        if not tail.rstrip().endswith(b"</osm>"):
            raise self._fault("the reply is cut short: it has no </osm> at its end", LATER)

    def _fault(self, reason: str, remedy: str) -> ProviderError:
        return ProviderError(self.name, reason, remedy)

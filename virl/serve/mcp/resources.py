"""What a session leaves, to be read at any time: its journal, its map and its report."""

import asyncio
import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    BlobResourceContents,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from virl.errors import VirlError
from virl.journal.journal import JOURNAL as JOURNAL_FILE
from virl.journal.report import REPORT as REPORT_FILE
from virl.platform.providers.cities import all_cities
from virl.serve.mcp.session import MAP_FILE, Acting, CitySession
from virl.serve.mcp.sessions import Sessions

JOURNAL, MAP, REPORT = "journal", "map", "report"
CITIES = "virl://cities"
TEMPLATE = "virl://sessions/{session}/"
MOST_JOURNAL = 200_000
"""Bytes of a journal that are sent, the latest lines; chosen."""
MOST_REPORT = 4_000_000
"""Bytes of a report, pictures included; chosen."""

T = TypeVar("T")

_KINDS = {
    JOURNAL: (
        "application/jsonl",
        "What was done in the session, a JSON object a line; the latest lines of a long one.",
    ),
    MAP: ("image/png", "The streets around, the way so far, and where the agent stands."),
    REPORT: ("text/html", "The report of the run as it stands, a page with its pictures."),
}
_ADDRESS = re.compile(rf"virl://sessions/([A-Za-z0-9._-]{{1,130}})/({'|'.join(_KINDS)})")


def address(session: str, what: str) -> str:
    """Return the address of one of the things that a session leaves."""
    return f"virl://sessions/{session}/{what}"


def listed_resources(sessions: Sessions) -> ListResourcesResult:
    """Return the cities, and what each session of this server leaves."""
    cities = Resource(
        name="cities",
        uri=CITIES,
        title="Cities",
        mime_type="application/json",
        description="Names for open_city.",
    )
    return ListResourcesResult(
        resources=[
            cities,
            *(
                Resource(
                    name=f"{what} of {session.id}",
                    uri=address(session.id, what),
                    mime_type=mime,
                    description=about,
                )
                for session in sessions
                for what, (mime, about) in _KINDS.items()
            ),
        ]
    )


def listed_templates() -> ListResourceTemplatesResult:
    """Return the same for any session."""
    return ListResourceTemplatesResult(
        resource_templates=[
            ResourceTemplate(name=what, uri_template=f"{TEMPLATE}{what}", mime_type=mime, description=about)
            for what, (mime, about) in _KINDS.items()
        ]
    )


async def read_resource(sessions: Sessions, uri: str) -> ReadResourceResult:
    """Read one resource.

    Raises:
        MCPError: there is no such resource, or it is too large.
    """
    if uri == CITIES:
        return _text(uri, "application/json", json.dumps(_cities(), ensure_ascii=False))
    found = _ADDRESS.fullmatch(uri)
    if found is None:
        raise MCPError(
            INVALID_PARAMS, f"no such resource: it is {CITIES} or {TEMPLATE}journal, map or report"
        )
    id_, what = found.groups()
    try:
        session = sessions.find(id_)
        folder = sessions.defaults.runs / session.id
        if what == JOURNAL:
            return _text(uri, _KINDS[JOURNAL][0], await asyncio.to_thread(_journal, folder))
        if what == MAP:
            png = await _make_or_load(session, session.map, (folder / MAP_FILE).read_bytes)
            return ReadResourceResult(
                contents=[
                    BlobResourceContents(uri=uri, mime_type="image/png", blob=base64.b64encode(png).decode())
                ]
            )
        page = await _make_or_load(session, session.report, (folder / REPORT_FILE).read_text)
    except VirlError as fault:
        raise MCPError(INVALID_PARAMS, str(fault)) from fault
    if len(page.encode()) > MOST_REPORT:
        raise MCPError(
            INVALID_PARAMS,
            f"the report has {len(page) / 1e6:.1f} MB, and at most {MOST_REPORT / 1e6:.0f} are sent: "
            f"call finish, and open {folder.name}/{REPORT_FILE} in the server's folder of runs",
        )
    return _text(uri, "text/html", page)


async def _make_or_load(session: CitySession, make: Callable[[Acting], T], kept: Callable[[], T]) -> T:
    """Return what a session makes while it is open, between two calls; otherwise what it left."""
    if not session.is_open:
        return await asyncio.to_thread(kept)
    return await asyncio.wrap_future(session.submit(make).result)


def _journal(folder: Path) -> str:
    """Return the latest whole lines."""
    data = (folder / JOURNAL_FILE).read_bytes()
    if len(data) > MOST_JOURNAL:
        data = data[-MOST_JOURNAL:].partition(b"\n")[2]
    whole, _, _ = data.rpartition(b"\n")
    return whole.decode("utf-8", "replace") + "\n"


def _cities() -> list[dict[str, str]]:
    """Return the cities that can be opened, as the resource lists them."""
    return [
        {"name": name, "title": city.title, "provider": city.provider}
        for name, city in sorted(all_cities().items())
    ]


def _text(uri: str, mime: str, text: str) -> ReadResourceResult:
    """Return a text as the contents of a resource."""
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=mime, text=text)])

"""The MCP resources: the list of cities, and the journal, map and report of each session."""

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
from virl.journal.report import render_report
from virl.platform.providers.cities import all_cities
from virl.serve.mcp.session import MAP_FILE, ActingAgent, CitySession, draw_map
from virl.serve.mcp.sessions import Sessions

JOURNAL, MAP, REPORT = "journal", "map", "report"
CITIES = "virl://cities"
TEMPLATE = "virl://sessions/{session}/"
MOST_JOURNAL = 200_000
"""Most bytes of a journal that are sent; of a longer journal, only its last lines; chosen."""
MOST_REPORT = 4_000_000
"""Most bytes of a report, pictures included, that is sent; a larger one is refused; chosen."""

T = TypeVar("T")

_KINDS = {  # (media type, description) of a session's resources
    JOURNAL: (
        "application/jsonl",
        "What was done in the session, a JSON object a line; the latest lines of a long one.",
    ),
    MAP: ("image/png", "The streets around, the way so far, and where the agent stands."),
    REPORT: ("text/html", "The report of the run as it stands, a page with its pictures."),
}
_ADDRESS = re.compile(rf"virl://sessions/([A-Za-z0-9._-]{{1,130}})/({'|'.join(_KINDS)})")


def address(session: str, kind: str) -> str:
    """Return the URI of a session's resource; `kind` is "journal", "map" or "report"."""
    return f"virl://sessions/{session}/{kind}"


def listed_resources(sessions: Sessions) -> ListResourcesResult:
    """Return the list of cities, and the resources of each session of this server."""
    json_type = "application/json"
    cities = Resource(
        name="cities", uri=CITIES, title="Cities", mime_type=json_type, description="Names for open_city."
    )
    own = [
        Resource(
            name=f"{kind} of {session.id}",
            uri=address(session.id, kind),
            mime_type=mime,
            description=about,
        )
        for session in sessions
        for kind, (mime, about) in _KINDS.items()
    ]
    return ListResourcesResult(resources=[cities, *own])


def listed_templates() -> ListResourceTemplatesResult:
    """Return the URI templates of a session's journal, map and report."""
    return ListResourceTemplatesResult(
        resource_templates=[
            ResourceTemplate(name=kind, uri_template=f"{TEMPLATE}{kind}", mime_type=mime, description=about)
            for kind, (mime, about) in _KINDS.items()
        ]
    )


async def read_resource(sessions: Sessions, uri: str) -> ReadResourceResult:
    """Return the contents of a resource by its URI.

    Raises:
        MCPError: there is no such resource, or it is too large.
    """
    if uri == CITIES:
        cities = [
            {"name": name, "title": city.title, "provider": city.provider}
            for name, city in sorted(all_cities().items())
        ]
        return _text_result(uri, "application/json", json.dumps(cities, ensure_ascii=False))
    found = _ADDRESS.fullmatch(uri)
    if found is None:
        raise MCPError(
            INVALID_PARAMS, f"no such resource: it is {CITIES} or {TEMPLATE}journal, map or report"
        )
    id_, kind = found.groups()
    try:
        session = sessions.find(id_)
        folder = sessions.defaults.runs / session.id
        if kind == JOURNAL:
            return _text_result(uri, _KINDS[JOURNAL][0], await asyncio.to_thread(_journal_tail, folder))
        if kind == MAP:
            png = await _make_or_load(
                session, lambda acting: draw_map(acting.body), (folder / MAP_FILE).read_bytes
            )
            blob = BlobResourceContents(uri=uri, mime_type="image/png", blob=base64.b64encode(png).decode())
            return ReadResourceResult(contents=[blob])
        page = await _make_or_load(
            session,
            lambda acting: render_report(acting.agent.run.folder, acting.agent.city),
            (folder / REPORT_FILE).read_text,
        )
    except VirlError as fault:
        raise MCPError(INVALID_PARAMS, str(fault)) from fault
    if len(page.encode()) > MOST_REPORT:
        raise MCPError(
            INVALID_PARAMS,
            f"the report has {len(page) / 1e6:.1f} MB, and at most {MOST_REPORT / 1e6:.0f} are sent: "
            f"call finish, and open {folder.name}/{REPORT_FILE} in the server's folder of runs",
        )
    return _text_result(uri, "text/html", page)


async def _make_or_load(session: CitySession, make: Callable[[ActingAgent], T], load: Callable[[], T]) -> T:
    """Return the result of `make`, run between an open session's calls, or of `load` if the session ended."""
    if not session.is_open:
        return await asyncio.to_thread(load)
    return await asyncio.wrap_future(session.submit(make).result)


def _journal_tail(folder: Path) -> str:
    """Return the last whole lines of the journal in a run's folder, at most `MOST_JOURNAL` bytes."""
    data = (folder / JOURNAL_FILE).read_bytes()
    # The first line is cut off somewhere, and the last may still be being written.
    if len(data) > MOST_JOURNAL:
        data = data[-MOST_JOURNAL:].partition(b"\n")[2]
    whole, _, _ = data.rpartition(b"\n")
    return whole.decode("utf-8", "replace") + "\n"


def _text_result(uri: str, mime: str, text: str) -> ReadResourceResult:
    """Return a text of media type `mime` as the contents of the resource `uri`."""
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=mime, text=text)])

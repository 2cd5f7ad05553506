"""Endpoints of the Overpass stand-in."""

import html
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qs

from fastapi import Response
from starlette.types import ASGIApp

from servers.dispatch import CutOff, OpenEndpoint, OpenRequest, Refusal, answer, make_server
from servers.options import MapServeOptions
from servers.overpass.elements import Elements
from servers.overpass.of_extract import elements_of_extract
from servers.overpass.of_town import elements_of_town
from servers.overpass.queries import BadQuery, Query, read_query
from servers.overpass.writing import as_json, as_xml
from virl.platform.city.city import City
from virl.serve.city_server import Pools, Stats
from virl.serve.faults import chance_of

DEFAULT_PORT = 8769
LATE = 'runtime error: Query timed out in "query" at line 1 after {seconds} seconds.'
STATUS = (
    "Connected as: 1\nCurrent time: {now}\nAnnounced endpoint: none\nRate limit: 2\n2 slots available now.\n"
    "Currently running queries (pid, space limit, time limit, start time):\n"
)
_PAGE = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<html>\n<head><title>OSM3S Response</title></head>\n<body>\n'
    "<p><strong>Error</strong>: {words}</p>\n</body>\n</html>\n"
)


class OverpassApi:
    """Answers queries.

    Args:
        elements: what is mapped.
        options: how the server behaves.
    """

    def __init__(self, elements: Elements, options: MapServeOptions) -> None:
        self._elements = elements
        self._options = options
        self._before: Counter[str] = Counter()

    def interpreter(self, asked: OpenRequest) -> Response:
        """`/api/interpreter`, with the query in `data` of a form or of the URL."""
        form = parse_qs(asked.body.decode("utf-8", "replace"))
        text = asked.query.get("data") or next(iter(form.get("data", [])), "")
        try:
            query = read_query(text)
        except BadQuery as fault:
            raise Refusal(400, str(fault)) from None
        late = LATE.format(seconds=query.timeout_s + 1) if self._is_cut_off(query, text) else ""
        if query.form == "json":
            told = answer(as_json(self._elements, query, late))
        else:
            told = Response(as_xml(self._elements, query, late), media_type="application/osm3s+xml")
        return CutOff(told.body, media_type=told.media_type) if late else told

    def status(self, _: OpenRequest) -> Response:
        """`/api/status`, as text."""
        return Response(STATUS.format(now=self._elements.date), media_type="text/plain")

    def _is_cut_off(self, query: Query, text: str) -> bool:
        if any(one.box and one.box.area_km2 > self._options.most_km2 for one in query.selects):
            return True
        before = self._before[text]
        self._before[text] += 1
        return chance_of(self._options.seed, text, before) < self._options.remark


def refused(refusal: Refusal) -> Response:
    """Return a refusal as Overpass words it: a page."""
    page = _PAGE.format(words=html.escape(refusal.message))
    return Response(page, refusal.status, media_type="text/html")


def elements_of(city: City, extract: Path | None) -> Elements:
    """Return the elements that are mapped in a town.

    Args:
        city: the town.
        extract: the file that it was made from; `None` for a made town.

    Raises:
        BadInput: the file cannot be read, or the city does not know all its places at once.
    """
    return elements_of_extract(extract) if extract else elements_of_town(city)


def make_app(elements: Elements, options: MapServeOptions, stats: Stats, pools: Pools) -> ASGIApp:
    """Return the server of a town's elements."""
    api = OverpassApi(elements, options)
    endpoints = [
        OpenEndpoint("interpreter", "/api/interpreter", api.interpreter, methods=("GET", "POST")),
        OpenEndpoint("status", "/api/status", api.status),
    ]
    return make_server("Overpass API", endpoints, refused, options, stats, pools)

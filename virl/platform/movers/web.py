"""The `web` mover: walks in a street-view page of virl's own, in a headless Chromium.

Links are those that the page's `StreetViewPanorama` lists, and its events say where it stands.
"""

import json
import logging
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING, Any, Self

from virl.errors import BadInput, NoStreetView, ProviderError, VirlError
from virl.extras import require
from virl.geo.globe import LatLng, distance, normalize_heading, signed_turn
from virl.platform.city.city import PanoramaPage
from virl.platform.city.streetview import Link, Pose, StreetView
from virl.platform.movers import web_driver
from virl.platform.providers.google.settings import BASE_URL_VARIABLE
from virl.platform.providers.http.settings import checked_host
from virl.retry import RetryPolicy

if TYPE_CHECKING:
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver import Chrome

GOOGLE = "https://maps.googleapis.com"
MAPS_JS = "/maps/api/js"
"""Path of the Maps JavaScript API below its host."""
SERVICE = "Maps JavaScript API"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
"""Commands of the browsers to look for; the first one that is installed is used."""
_NOT_THERE = "ZERO_RESULTS"  # the status of a panorama that is not there
_REFUSED = "the key was refused"  # as page.js says it
_LONGEST_WAIT_S = 30.0
_log = logging.getLogger(__name__)

_LONGEST_FOLDER = 58  # characters: Chromium puts a socket below it, the path of which may take 104 in all

_PAGE = files("virl.platform.movers") / "web_page"


class BrowserUnavailable(VirlError):
    """The error of a web mover without a browser; its message says how to get one."""


@dataclass(frozen=True, slots=True)
class WebSettings:
    """Settings of the web mover's page: address and key, waits and tries, links to read, and payment."""

    maps_js: str = GOOGLE + MAPS_JS
    """Address from which the page loads the Maps JavaScript API."""
    key: str = field(default="", repr=False)
    """API key, which goes to the page in memory and into no file, log or message."""
    timeout: float = 20.0
    """Largest time in seconds that loading the page, or a move, may take; chosen."""
    further: int = 4
    """Number of tries after the first where the page fails, as for other requests to Google."""
    first_wait: float = 0.5
    """Seconds to wait before the second try; doubles with every further one."""
    arrows: bool = False
    """True to read and click the arrows that are drawn, as V-IRL did, instead of the panorama's own links."""
    outdoor: bool = True
    """True to leave out links to panoramas that are known to be indoors."""
    pay: Callable[[], None] = field(default=lambda: None, repr=False)
    """Function that books the price of a panorama object before the page makes it; free by default."""

    @classmethod
    def of_page(cls, page: PanoramaPage) -> Self:
        """Return settings for the street-view page of a city, with the key from `GOOGLE_MAPS_API_KEY`."""
        key = os.environ.get("GOOGLE_MAPS_API_KEY", "")
        return cls(maps_js=page.maps_js, key=key, outdoor=page.outdoor, pay=page.pay)

    @classmethod
    def from_environment(cls, *, arrows: bool = False) -> Self:
        """Return settings with the environment's key and host, by default Google's; `arrows` as given.

        Raises:
            BadInput: the variable of the host has no valid address.
        """
        given = os.environ.get(BASE_URL_VARIABLE)
        host = checked_host(given, BASE_URL_VARIABLE) if given else GOOGLE
        key = os.environ.get("GOOGLE_MAPS_API_KEY", "")
        return cls(maps_js=host + MAPS_JS, key=key, arrows=arrows)


@dataclass(frozen=True, slots=True)
class PagePanorama:
    """A panorama as the page shows it."""

    pano_id: str
    position: LatLng
    links: tuple[tuple[str, float], ...]
    """(id, heading in degrees) of each link, in the page's order."""


class _PageFailed(ProviderError):
    """An error of the page, with whether and when it may be tried again."""

    may_retry = True
    """True if another try may help."""
    wait: float | None = None
    """Seconds to wait before another try; `None` for the usual wait."""


class StreetViewPage:
    """A street-view page in a headless browser; both close on `close`.

    What fails is tried again in a page that is loaded anew.

    Raises:
        BrowserUnavailable: Selenium, Chromium or its driver is missing or does not start.
        ProviderError: the Maps JavaScript API cannot be loaded, or refuses the key.
        BudgetExceeded: another panorama object would cost more than is left.
    """

    def __init__(self, settings: WebSettings) -> None:
        """Start the browser, serve the page and load it, as the settings say."""
        self._settings = settings
        self._retries = RetryPolicy(settings.further, settings.first_wait, _LONGEST_WAIT_S)
        self._is_loaded = False
        with ExitStack() as opened:
            own = opened.enter_context(TemporaryDirectory(prefix="virl-", ignore_cleanup_errors=True))
            self._driver = _start_browser(settings.timeout, own)
            opened.callback(self._driver.quit)
            secret = {"mapsJs": settings.maps_js, "key": settings.key}
            self._address = opened.enter_context(_serve_page(secret))
            self._ask("")
            self._opened = opened.pop_all()

    def close(self) -> None:
        """Close the browser and stop serving the page."""
        self._opened.close()

    def go(self, pano_id: str, heading: float) -> PagePanorama:
        """Show a panorama with the view at a heading in degrees; return the panorama as the page shows it.

        Raises:
            NoStreetView: there is no such panorama.
            ProviderError: the page does not answer in time.
        """
        return self._read_panorama(self._ask("go", pano_id, heading, pano_id=pano_id))

    def click(self, arrow: int) -> PagePanorama:
        """Click on an arrow drawn on the page, by its index, and return the panorama shown then."""
        return self._read_panorama(self._call("click", arrow))

    def arrows(self) -> tuple[list[str], float]:
        """Return (CSS transform of each arrow drawn, heading in degrees that the view faces)."""
        found = self._call("arrows", int(1000 * self._settings.timeout / 2))
        return [str(transform) for transform in found["transforms"]], float(found["heading"])

    def _read_panorama(self, found: Mapping[str, Any]) -> PagePanorama:
        """Return the panorama that a reply of the page describes."""
        links = ((str(link["pano"]), normalize_heading(float(link["heading"]))) for link in found["links"])
        return PagePanorama(
            str(found["pano"]), LatLng(float(found["lat"]), float(found["lng"])), tuple(links)
        )

    def _ask(self, function: str, *arguments: object, pano_id: str = "") -> Mapping[str, Any]:
        """Return a page function's reply, with retries; `function=""` only loads the page."""

        def attempt() -> Mapping[str, Any] | _PageFailed:
            """Load the page if needed and call it once; return its reply, or the error of a failed try."""
            try:
                if not self._is_loaded:
                    self._load()
                return self._call(function, *arguments, pano_id=pano_id) if function else {}
            except _PageFailed as fault:
                self._is_loaded = False
                return fault

        outcome = self._retries.run(attempt, _failure, tell=_log_retry)
        if isinstance(outcome, _PageFailed):
            raise outcome
        return outcome

    def _load(self) -> None:
        """Load the page and start its panorama, which is paid for first."""
        from selenium.common.exceptions import WebDriverException  # noqa: PLC0415

        # Before the page makes its panorama: a spent budget has to stop it.
        self._settings.pay()
        try:
            self._driver.get(self._address)
        except WebDriverException as fault:
            raise _browser_failed(fault) from None
        self._call("start")
        self._is_loaded = True

    def _call(self, function: str, *arguments: object, pano_id: str = "") -> Mapping[str, Any]:
        """Return the loaded page's reply to one call; raise `NoStreetView` if it does not know `pano_id`."""
        from selenium.common.exceptions import TimeoutException, WebDriverException  # noqa: PLC0415

        script = (
            f"const given = [...arguments], done = given.pop(); virl.{function}(...given)"
            ".then((value) => done({value}), (fault) => done({fault: fault.message}))"
        )
        try:
            reply = self._driver.execute_async_script(script, *arguments)
        except TimeoutException:
            reason = f"the page did not answer within {self._settings.timeout:g} s"
            raise _PageFailed(SERVICE, reason, "try again, or check the network") from None
        except WebDriverException as fault:
            raise _browser_failed(fault) from None
        if "fault" not in reply:
            return dict(reply["value"] or {})
        if reply["fault"] == _NOT_THERE and pano_id:
            raise NoStreetView(f"no panorama has the id {pano_id!r}")
        failed = _PageFailed(SERVICE, reply["fault"], "check the key, the address and the network")
        failed.may_retry = reply["fault"] != _REFUSED
        raise failed


def _failure(outcome: Mapping[str, Any] | _PageFailed) -> _PageFailed | None:
    """Return the outcome if it is a failed call; `None` if it is a reply."""
    return outcome if isinstance(outcome, _PageFailed) else None


def _log_retry(outcome: Mapping[str, Any] | _PageFailed, pause: float) -> None:
    """Write to the log that the failed call `outcome` is repeated after a pause in seconds."""
    _log.info("%s: trying again in %.1f s", outcome, pause)


def _browser_failed(fault: "WebDriverException") -> _PageFailed:
    """Return the error to raise for a browser that failed."""
    reason = (fault.msg or "no reason given").splitlines()[0]
    return _PageFailed(SERVICE, f"the browser failed ({reason})", "start again")


def _start_browser(timeout: float, folder: str) -> "Chrome":
    """Start a browser with its files in `folder` if the path is short; `timeout` in s; return its driver."""
    require("web", "selenium", what="the web mover", error=BrowserUnavailable)
    from selenium.common.exceptions import WebDriverException  # noqa: PLC0415
    from selenium.webdriver import Chrome, ChromeOptions  # noqa: PLC0415
    from selenium.webdriver.chrome.service import Service  # noqa: PLC0415

    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        missing = "Chromium" if browser is None else "chromedriver"
        raise BrowserUnavailable(
            f"the web mover needs {missing}: run `make web-deps`, or install the packages chromium and "
            "chromium-driver (and, for Selenium, pip install 'virl[web]')"
        )
    minded = ["-I", web_driver.__file__, folder, driver]

    class MindedService(Service):
        """A Chromedriver service run under another process, which ends it when this process is killed."""

        def command_line_args(self) -> list[str]:
            """Return the command line of Chromedriver, begun by the process that ends it."""
            return [*minded, *super().command_line_args()]

    options = ChromeOptions()
    options.binary_location = browser
    for argument in _arguments():
        options.add_argument(argument)
    # Without keep-alive the client heeds a timeout that is set after its start.
    try:
        own = {"TMPDIR": folder} if len(folder) <= _LONGEST_FOLDER else {}
        service = MindedService(sys.executable, env={**os.environ, **own})
        started = Chrome(options=options, service=service, keep_alive=False)
    except WebDriverException as fault:
        reason = (fault.msg or "no reason given").splitlines()[0]
        raise BrowserUnavailable(f"Chromium does not start ({reason}): try `{browser} --headless`") from None
    started.set_page_load_timeout(timeout)
    started.set_script_timeout(timeout)
    # Longer than the waits of the page, so that those end first and say what was slow.
    started.command_executor.client_config.timeout = timeout + 10  # type: ignore[union-attr]
    return started


def _arguments() -> list[str]:
    """Return the command-line options of the browser."""
    # Incognito: a cache on disk would hold the address with the key.
    # Containers have little /dev/shm, and Chromium dies where it is full; so it uses the temporary folder.
    arguments = [
        "--headless=new",
        "--incognito",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--window-size=800,600",
    ]
    # Chromium refuses to start as root with its sandbox.
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [*arguments, "--no-sandbox"] if as_root else arguments


@contextmanager
def _serve_page(settings: Mapping[str, str]) -> Iterator[str]:
    """Serve the page with its settings as one document while the context is open; yield its address.

    The page reads the settings, the key among them, at its start; they are in no file or address.
    """
    secret = secrets.token_urlsafe(16)
    script = (_PAGE / "page.js").read_text("utf-8")
    # A key or address with `</script>` in it must not end the script.
    own = json.dumps(dict(settings)).replace("<", r"\u003c")
    page = (
        (_PAGE / "index.html")
        .read_text("utf-8")
        .replace("/* page.js */", f"const settings = {own};\n{script}")
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(f"/{secret}/", page.encode()))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/{secret}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(path: str, page: bytes) -> type[BaseHTTPRequestHandler]:
    """Return a class of request handlers that serve one page at a path, and nothing else."""

    class Handler(BaseHTTPRequestHandler):
        """A request handler that serves the one page."""

        timeout = 10  # seconds a connection may stay silent

        def do_GET(self) -> None:
            """Send the page with status 200, or status 404 for any other path."""
            body = page if self.path == path else b""
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Write nothing, as a page's requests are no news."""

    return Handler


_ROTATION = re.compile(r"\brotate\(\s*(-?\d+(?:\.\d*)?(?:e-?\d+)?)", re.IGNORECASE)


class WebMover:
    """A mover along the links of a street-view page, in a browser that opens on first use.

    With `settings.arrows` it goes the way that V-IRL did: the headings of links are read from the arrows
    drawn, and a click on one moves. That depends on how a page happens to be drawn; it is there to compare.
    """

    def __init__(self, streetview: StreetView, settings: WebSettings | None = None) -> None:
        """Begin without a browser; without settings, those of the environment hold."""
        self._streetview = streetview
        self._settings = settings or WebSettings.from_environment()
        self._opened: StreetViewPage | None = None
        self._links: dict[str, tuple[Link, ...]] = {}

    def links(self, pose: Pose) -> tuple[Link, ...]:
        """Return the links that leave a pose, sorted by heading.

        Raises:
            NoStreetView: the pose stands at no panorama.
            BrowserUnavailable: there is no browser.
            ProviderError: the page does not load or does not answer.
        """
        if pose.pano_id not in self._links:
            shown = self._page.go(pose.pano_id, pose.heading)
            links = self._add_lengths(self._drawn_links(shown) if self._settings.arrows else shown)
            self._links[pose.pano_id] = tuple(sorted(links, key=lambda link: link.heading))
        return self._links[pose.pano_id]

    def take(self, pose: Pose, link: Link) -> Pose:
        """Return the pose after moving along a link, facing the way the link led."""
        if link not in self.links(pose):
            raise BadInput(f"no link to {link.pano_id!r} leaves panorama {pose.pano_id!r}")
        if not self._settings.arrows:
            return Pose(self._page.go(link.pano_id, link.heading).pano_id, link.heading)
        self._page.go(pose.pano_id, pose.heading)
        headings = self._arrow_headings()
        arrow = min(range(len(headings)), key=lambda one: abs(signed_turn(headings[one], link.heading)))
        return Pose(self._page.click(arrow).pano_id, link.heading)

    def close(self) -> None:
        """Close the browser, which opens again on the next use."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _page(self) -> StreetViewPage:
        """Street-view page in its browser, opened when it is first needed."""
        if self._opened is None:
            self._opened = StreetViewPage(self._settings)
        return self._opened

    def _add_lengths(self, shown: PagePanorama) -> list[Link]:
        """Return a panorama's links with lengths, except to removed panoramas and, if so set, indoor ones."""
        found = []
        for pano_id, heading in shown.links:
            try:
                end = self._streetview.panorama(pano_id)
            except NoStreetView:  # Google has taken it away
                continue
            if not (self._settings.outdoor and end.indoors):
                found.append(Link(pano_id, heading, distance(shown.position, end.position)))
        return found

    def _drawn_links(self, shown: PagePanorama) -> PagePanorama:
        """Return a panorama with only the links for which an arrow is drawn, at the arrows' headings."""
        # Of two arrows at one link the later counts.
        links = {
            min(shown.links, key=lambda link: abs(signed_turn(heading, link[1])))[0]: heading
            for heading in self._arrow_headings()
            if shown.links
        }
        return replace(shown, links=tuple(links.items()))

    def _arrow_headings(self) -> list[float]:
        """Return the heading in degrees of each arrow drawn."""
        transforms, facing = self._page.arrows()
        return [arrow_heading(transform, facing) for transform in transforms]


def arrow_heading(transform: str, facing: float) -> float:
    """Return the heading, [0, 360), of an arrow by its CSS or SVG transform in a view that faces `facing`.

    Both headings are in degrees clockwise from north; a transform without a rotation turns by 0.
    """
    rotation = _ROTATION.search(transform)
    return normalize_heading(facing + (float(rotation[1]) if rotation else 0.0))

"""`make audit`: the one thing that fails is a published vulnerability."""

import json
import runpy
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

AUDIT = runpy.run_path(str(Path(__file__).parent.parent / ".ci" / "audit.py"))
FAULT = {"id": "PYSEC-1", "fix_versions": ["2.0", "1.9.1"], "aliases": [], "description": "bad"}


def test_a_known_vulnerability_fails_and_says_what_to_do() -> None:
    report = [
        {"name": "fine", "version": "1.0", "vulns": []},
        {"name": "bad", "version": "1.0", "vulns": [FAULT, FAULT | {"id": "PYSEC-2", "fix_versions": []}]},
        {"name": "own", "skip_reason": "Dependency not found on PyPI"},
    ]
    lines, status = AUDIT["verdict"](report)
    assert status == 1
    assert lines == [
        "audit: bad 1.0: PYSEC-1: upgrade to 2.0 or 1.9.1",
        "audit: bad 1.0: PYSEC-2: no version without it is published yet",
        "audit: 2 packages, 2 known vulnerabilities, 1 not known to the service: own",
    ]
    assert AUDIT["verdict"](report[:1]) == (["audit: 1 packages, 0 known vulnerabilities"], 0)


@contextmanager
def advisories(about: str) -> Iterator[str]:
    """A service in OSV's format that knows of one vulnerability, of one package."""
    known = {"id": "OSV-7", "summary": "bad", "affected": [{"package": {"name": about, "ecosystem": "PyPI"}}]}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            answer = {"vulns": [known]} if asked["package"]["name"] == about else {}
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.slow
def test_packages_are_looked_up_at_a_service(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    AUDIT["main"].__globals__["SERVICES"] = ("osv",)
    with advisories("numpy") as url:
        options = ["--osv-url", url, "--cache-dir", str(tmp_path)]
        assert AUDIT["main"](options) == 1
        assert "OSV-7: no version without it is published yet" in capsys.readouterr().out
    with advisories("nothing-we-have") as url:
        assert AUDIT["main"](["--osv-url", url, "--cache-dir", str(tmp_path)]) == 0
    assert AUDIT["main"](["--osv-url", url, "--cache-dir", str(tmp_path)]) == 0  # nobody is there any more
    assert "skipped, no advisory service can be reached" in capsys.readouterr().out.splitlines()[-1]

"""`virl doctor --mind`: a free request to the model's server, with its own key and no other."""

import json
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from loopback import LoopbackServer, Quiet

from virl.doctor.model_server import mind_finding

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY")
URLS = ("VIRL_BASE_URL", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "OLLAMA_HOST")
PAGES: Mapping[str, Any] = {
    "GET /v1/models": {"data": [{"id": "gpt-4o"}, {"id": "local", "max_model_len": 8_192}]},
    "GET /v1/models/claude-haiku-4-5": {"id": "claude-haiku-4-5", "max_input_tokens": 200_000},
    "GET /v1beta/models/gemini-2.5-flash": {
        "name": "models/gemini-2.5-flash",
        "inputTokenLimit": 1_048_576,
    },
    "GET /api/tags": {"models": [{"name": "llama3.2:latest"}]},
    "POST /api/show": {"model_info": {"llama.context_length": 131_072}},
}


class Listing(LoopbackServer):
    """Lists its models, and notes what it is asked; another status in the place of 200 is all it says."""

    def __init__(self, status: int = 200) -> None:
        self.status = status
        self.asked: list[tuple[str, str]] = []
        super().__init__(self._handler())

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        listing = self

        class Handler(Quiet, BaseHTTPRequestHandler):
            def answer(self) -> None:
                self.rfile.read(int(self.headers.get("content-length", 0)))
                asked = f"{self.command} {self.path}"
                listing.asked.append((asked, json.dumps(dict(self.headers.items()))))
                page = PAGES.get(asked)
                status = listing.status if page is not None else 404
                body = json.dumps(page).encode()
                self.send_response(status)
                if status == 302:
                    self.send_header("location", "http://localhost:9/v1/models")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = answer  # noqa: N815  as http.server calls them

        return Handler


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*URLS, "VIRL_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name in KEYS:
        monkeypatch.setenv(name, f"marker-of-{name.lower()}-0123456789")


ASKED = [
    ("openai:gpt-4o", "OPENAI_BASE_URL", "OPENAI_API_KEY", 128_000, "price $2.5 and $10"),
    ("openai:local", "VIRL_BASE_URL", "", 8_192, "price unknown: --budget-usd needs price=IN,OUT"),
    (
        "openai:local?price=0,0",
        "VIRL_BASE_URL",
        "",
        8_192,
        "price $0 and $0 per million tokens in and out, as",
    ),
    ("anthropic:claude-haiku-4-5", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", 200_000, "price $1 and $5"),
    (
        "google_genai:gemini-2.5-flash",
        "GOOGLE_GEMINI_BASE_URL",
        "GOOGLE_API_KEY",
        1_048_576,
        "price $0.3 and $2.5",
    ),
    ("ollama:llama3.2", "OLLAMA_HOST", "", 131_072, "free"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "variable", "key", "context", "price"), ASKED)
def test_the_server_of_the_mind_is_asked_for_free_with_its_own_key(
    monkeypatch: pytest.MonkeyPatch, spec: str, variable: str, key: str, context: int, price: str
) -> None:
    with Listing() as server:
        url = f"http://{server.host}"
        monkeypatch.setenv(variable, f"{url}/v1" if spec.startswith("openai") else url)
        found = mind_finding(spec)
        sent = "".join(headers for _, headers in server.asked)
        assert all(asked in PAGES for asked, _ in server.asked), "nothing is asked that costs"
    assert (found.state, found.what) == ("ok", f"mind {spec}")
    assert found.detail.startswith(f"reached, and knows the model; context {context:,} tokens; {price}")
    assert [name for name in KEYS if f"marker-of-{name.lower()}" in sent] == ([key] if key else [])


@pytest.mark.parametrize(
    "spec", ["openai:nosuch", "anthropic:nosuch", "google_genai:nosuch", "ollama:nosuch"]
)
def test_a_model_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch, spec: str) -> None:
    with Listing() as server:
        for variable in URLS[1:]:
            url = f"http://{server.host}"
            monkeypatch.setenv(variable, f"{url}/v1" if variable.startswith("OPENAI") else url)
        found = mind_finding(spec)
    assert found.state == "missing"
    assert "does not know nosuch" in found.detail
    assert found.remedy == ("ollama pull nosuch" if "ollama" in spec else "check the model's name")
    if spec.startswith(("openai", "ollama")):
        assert "it has" in found.detail


@pytest.mark.parametrize(
    ("status", "detail", "remedy"),
    [
        (401, "does not accept the key", "check OPENAI_API_KEY"),
        (500, "HTTP 500", "check the base URL"),
        (302, "HTTP 302", "check the base URL"),  # no key follows a redirect
    ],
)
def test_a_server_that_refuses_says_what_to_check(
    monkeypatch: pytest.MonkeyPatch, status: int, detail: str, remedy: str
) -> None:
    with Listing(status) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://{server.host}/v1")
        found = mind_finding("openai:gpt-4o")
    assert found.state == "missing"
    assert detail in found.detail
    assert found.remedy == remedy
    assert "marker" not in repr(found)


def test_a_server_that_is_not_there_is_said_within_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    with Listing() as server:
        url = f"http://user:secret@{server.host}/v1"
    monkeypatch.setenv("VIRL_BASE_URL", url)
    found = mind_finding("openai:local")
    assert "cannot be reached" in found.detail
    assert found.remedy.startswith("start the server")
    assert "secret" not in repr(found)


def test_a_hosted_model_without_a_key_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    found = mind_finding("anthropic:claude-haiku-4-5")
    assert (found.state, found.detail) == ("missing", "cannot be opened")
    assert "set ANTHROPIC_API_KEY in your environment" in found.remedy


def test_rules_and_scripts_have_no_server() -> None:
    assert mind_finding("rules").detail == mind_finding("scripted:x.yaml").detail == "asks no language model"

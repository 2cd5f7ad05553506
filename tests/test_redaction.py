import base64
import json
import logging
from urllib.parse import quote, quote_plus

import pytest

from virl.errors import BadInput
from virl.mind.open import open_mind
from virl.platform.providers.google.settings import Keys
from virl.platform.providers.http.settings import checked_host
from virl.redaction import RedactingFormatter, Redaction, shown_url, warn_of_placeholder

KEY = 'marker/of+a key="0123456789"\\é'
PASSWORD = "marker:of/a?password-0123"  # noqa: S105
QUERY = f"api_key={quote_plus(KEY)}&version=2024-10-01-preview"
URL = f"https://user:{quote(PASSWORD, safe='')}@host:8080/v1?{QUERY}"


def base64_of(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


SPELLED = [
    KEY,
    quote(KEY),
    quote(KEY, safe=""),
    quote(KEY, safe="").lower(),
    quote_plus(KEY),
    json.dumps(KEY)[1:-1],
    json.dumps(KEY, ensure_ascii=False)[1:-1],
    base64_of(KEY),
    base64.urlsafe_b64encode(KEY.encode()).decode().rstrip("="),
]


@pytest.mark.parametrize("spelled", SPELLED)
def test_a_secret_is_taken_out_however_it_is_spelled(spelled: str) -> None:
    redaction = Redaction.of([KEY])
    for text in (redaction.exact(f"<{spelled}>"), redaction.text(f"<{spelled}>")):
        assert text.rstrip("=>") == "<***"
    assert redaction.body(f"<{spelled}>".encode()).rstrip(b"=>") == b"<***"
    assert redaction.is_in(spelled.encode())
    found = redaction.tree({"a": [spelled, 1, None, {"b": spelled}], spelled: True})
    assert spelled not in json.dumps(found, ensure_ascii=False)
    assert KEY not in repr(redaction)


@pytest.mark.parametrize("placeholder", ["any", "EMPTY", "none", "fifteen-letters", ""])
def test_a_placeholder_is_left_where_it_stands(placeholder: str) -> None:
    redaction = Redaction.of([placeholder])
    text = f"Too many people: {placeholder}"
    assert redaction.text(text) == redaction.exact(text) == text
    assert redaction.body(text.encode()) == text.encode()


@pytest.mark.parametrize("shown", [PASSWORD, quote(PASSWORD, safe=""), f"user:{PASSWORD}", KEY])
def test_credentials_of_a_url_are_secrets(shown: str) -> None:
    assert shown not in Redaction.of(urls=[URL]).exact(f"it is {shown}.")


def test_the_header_of_a_url_is_a_secret_even_if_it_is_short() -> None:
    redaction = Redaction.of(urls=["http://user:pass@host"])
    assert redaction.text("authorization: Basic dXNlcjpwYXNz") == "authorization: ***"
    assert redaction.exact("pass the user") == "pass the user"
    assert "2024-10-01-preview" in Redaction.of(urls=[URL]).text("version 2024-10-01-preview")


def test_the_secrets_of_the_environment_count_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_PROXY", URL)
    monkeypatch.setenv("SOME_API_KEY", "marker-of-the-environment")
    text = Redaction.of().exact(f"{PASSWORD} and marker-of-the-environment")
    assert text == "*** and ***"
    record = logging.LogRecord("a", logging.INFO, __file__, 1, "asks %s", (URL,), None)
    assert "marker" not in RedactingFormatter("%(name)s: %(message)s").format(record)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("at http://u:p@h:1/x failed", "at http://***@h:1/x failed"),
        ("http://u:p@ss@h/x", "http://***@h/x"),
        ("GET /x?a=1&api_key=abc&b=2", "GET /x?a=1&api_key=***&b=2"),
        ("?key=abc#c", "?key=***#c"),
        ("Bearer abc.def", "***"),
        ("key sk-proj-***123 is wrong", "key *** is wrong"),
        ("https://example.org/a@b?page=2", "https://example.org/a@b?page=2"),
        ("mail user@example.org", "mail user@example.org"),
    ],
)
def test_what_looks_like_a_key_is_not_shown(text: str, shown: str) -> None:
    assert Redaction().text(text) == shown


@pytest.mark.parametrize(
    "url", [URL, "user:pass@host", "http://user:pa@ss@host/#token", "//u:pass@h", "http://[::1"]
)
def test_a_url_is_shown_without_what_it_hides(url: str) -> None:
    shown = shown_url(url)
    assert not [word for word in ("user", "pass", "marker", "token") if word in shown]


def test_a_wrong_base_url_is_named_without_its_credentials() -> None:
    with pytest.raises(BadInput, match="VIRL_X: 'http://\\*\\*\\*@host'") as caught:
        checked_host("http://user:pass@host", "VIRL_X")
    assert "pass@" not in str(caught.value)


@pytest.mark.slow
def test_a_text_of_a_megabyte_is_read_in_a_moment() -> None:
    for part in ("a", "://", "?key", "sk-", "AIza", "bearer ", "x@", "&a.b"):
        assert Redaction().text(part * (1_000_000 // len(part)))


@pytest.mark.slow
def test_a_placeholder_is_named_in_one_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    warn_of_placeholder.cache_clear()
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", "any")
    monkeypatch.setenv("OPENAI_API_KEY", "EMPTY")
    for _ in range(3):
        Keys.from_environment()
        open_mind("openai:gpt-5-mini", cache_dir=None)
    said = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert [text.partition(" ")[0] for text in said] == ["GOOGLE_MAPS_API_KEY", "OPENAI_API_KEY"]
    assert "\n" not in "".join(said)
    caplog.clear()
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", "AIza-as-long-as-keys-are")
    Keys.from_environment()
    assert not caplog.records
    warn_of_placeholder.cache_clear()

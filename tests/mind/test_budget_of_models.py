"""What is reserved for a request to a model, and what a kill leaves in the book."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage
from strict_models import ModelServer, Request, Said, raw
from strict_models.answers import anthropic_body
from test_strict_apis import BAR, KEY_VARIABLES, LUNCH, PROVIDERS, TYPE, mind_at

from virl.errors import BadInput, BudgetExceeded
from virl.mind.open import open_mind
from virl.mind.providers import ModelDefaults, Usage, expected_usage, picture_tokens, request_usd
from virl.mind.settings import MindSettings
from virl.money.ledger import Ledger


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEY_VARIABLES:
        monkeypatch.setenv(name, f"marker-of-{name.lower()}-0123456789")


LIMITS = {"openai": 4_096, "anthropic": 16_384, "google_genai": 16_384, "ollama": 16_384}


@pytest.mark.slow
@PROVIDERS
def test_the_longest_reply_that_a_request_allows_is_reserved(provider: str, tmp_path: Path) -> None:
    book = tmp_path / "spending.jsonl"
    with ModelServer(provider, [BAR]) as server:
        for query, tokens in (("?price=0,100", LIMITS[provider]), ("?price=0,100&max_tokens=500", 500)):
            dollars = tokens * 100 / 1e6
            with pytest.raises(BudgetExceeded, match=f"may cost \\${dollars:.4f} more"):
                mind_at(server, query, ledger=Ledger(dollars - 0.0001)).ask(TYPE, **LUNCH)
            assert not server.requests, "nothing is sent that may cost too much"
        mind_at(server, "?price=0,100&max_tokens=500", ledger=Ledger(0.05, book=book)).ask(TYPE, **LUNCH)
        assert len(server.requests) == 1
    assert Ledger(book=book).spent_usd == pytest.approx(10 * 100 / 1e6), (
        "what it truly cost stands in the end"
    )


@pytest.mark.parametrize(
    ("provider", "settings", "profile", "tokens"),
    [
        ("openai", {}, {"max_output_tokens": 2_048, "reasoning_output": False}, 2_048),
        ("openai", {"max_tokens": 100_000}, {"max_output_tokens": 8_192}, 8_192),
        ("openai-completion", {}, None, 256),
        ("groq", {}, {"max_output_tokens": 32_768}, 32_768),  # no limit is sent
        ("groq", {"max_tokens": 1_000}, {"max_output_tokens": 32_768}, 1_000),
        ("groq", {}, None, 16_384),
    ],
)
def test_a_reply_is_as_long_as_the_settings_or_the_model_allow(
    provider: str, settings: dict[str, int], profile: dict[str, object] | None, tokens: int
) -> None:
    defaults = ModelDefaults(provider, MindSettings(**settings), profile)  # type: ignore[arg-type]
    assert defaults.longest_reply == tokens


def test_letters_beyond_ascii_and_dear_pictures_are_reckoned_with() -> None:
    plain, dense = (
        expected_usage([HumanMessage(content=text)], reply=10)
        for text in ("lunch" * 30, "昼食を食べたい" * 30)
    )
    assert plain.input_tokens == 50
    assert dense.input_tokens == 210, "a letter each"
    shown = [HumanMessage(content=[{"type": "image", "base64": "aa", "mime_type": "image/jpeg"}])]
    mini, usual = (
        expected_usage(shown, reply=0, picture=picture_tokens(f"openai:{name}"))
        for name in ("gpt-4o-mini-2024-07-18", "gpt-4o")
    )
    assert (mini.input_tokens, usual.input_tokens) == (48_169, 1_500)


def test_a_tokenizer_that_makes_more_tokens_is_reckoned_with_from_the_second_request_on() -> None:
    with ModelServer("openai", [BAR | {"usage": (9_000, 10)}]) as server:
        mind = mind_at(server, "?price=1,0&max_tokens=500", ledger=Ledger(0.010))
        mind.ask(TYPE, **LUNCH)
        with pytest.raises(BudgetExceeded):
            mind.ask(TYPE, **LUNCH)
    assert len(server.requests) == 1


@pytest.mark.parametrize("name", ["groq:openai/gpt-oss-120b", "openai:unheard-of"])
def test_a_budget_is_refused_for_a_model_without_a_price_and_says_how_to_set_one(name: str) -> None:
    with pytest.raises(BadInput, match=rf"--mind '{name}\?price=0.15,0.60'"):
        open_mind(name, cache_dir=None, ledger=Ledger(1.0))


@pytest.mark.parametrize(
    "name",
    [
        "openai:gpt-4o-mini",
        "openai:gpt-5-mini-2025-08-07",
        "google_genai:gemini-2.5-flash",
        "anthropic:claude-haiku-4-5",
        "anthropic:claude-sonnet-4-5-20250929",
        "openai-completion:gpt-3.5-turbo-instruct",
    ],
)
def test_models_named_in_the_docs_have_prices(name: str) -> None:
    assert request_usd(name, Usage()) == 0.0


KILLED = """
import sys
from pathlib import Path
from virl.mind.open import open_mind
from virl.mind.prompt import load_prompt
from virl.money.ledger import Ledger
from virl.routines.explore.rules import PlaceType

ledger = Ledger(1.0, book=Path(sys.argv[2]))
mind = open_mind("openai:gpt-4o", cache_dir=None, base_url=sys.argv[1], ledger=ledger)
mind.ask(load_prompt("explore/place-type", PlaceType), intention="Lunch.", place_types=["bar"])
"""


@pytest.mark.slow
def test_a_request_in_flight_at_a_kill_is_in_the_book(tmp_path: Path) -> None:
    book = tmp_path / "spending.jsonl"

    def kill(_: Request) -> Said:
        process.kill()
        process.wait()
        return BAR

    with ModelServer("openai", [kill]) as server:
        process = subprocess.Popen([sys.executable, "-c", KILLED, server.url, str(book)])
        assert process.wait(timeout=60) == -9
    paid = Ledger(book=book).payments()
    assert paid.calls == 1
    assert paid.input_tokens > 100
    assert paid.usd == pytest.approx(4_096 * 10 / 1e6 + paid.input_tokens * 2.5 / 1e6)


def test_what_anthropic_writes_into_its_cache_and_reads_there_is_priced() -> None:
    body = anthropic_body(BAR)
    usage = {"input_tokens": 100, "cache_creation_input_tokens": 4_000, "cache_read_input_tokens": 2_000}
    for more in (
        {},
        {"cache_creation": {"ephemeral_5m_input_tokens": 4_000, "ephemeral_1h_input_tokens": 0}},
    ):
        counted = body | {"usage": usage | more | {"output_tokens": 10}}
        with ModelServer("anthropic", [raw(json.dumps(counted))]) as server:
            mind = mind_at(server)
            mind.ask(TYPE, **LUNCH)
        [exchange] = mind.ledger.take_asked()
        assert exchange.input_tokens == 6_100
        assert exchange.usd == pytest.approx((100 * 1 + 4_000 * 1.25 + 2_000 * 0.1 + 10 * 5) / 1e6)

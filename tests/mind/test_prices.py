import subprocess
import sys

import pytest

from virl.mind.providers import Usage, request_usd

MILLION = 1_000_000


@pytest.mark.parametrize(
    ("name", "usage", "usd"),
    [
        ("openai:gpt-5-mini", Usage(MILLION, 400_000, 100_000), 0.15 + 0.01 + 0.2),
        ("openai-completion:gpt-3.5-turbo-instruct", Usage(MILLION, 400_000, 0, 500_000), 1.5),
        ("anthropic:claude-opus-5", Usage(MILLION, 400_000, 0, 500_000), 0.5 + 0.2 + 3.125),
        ("google_genai:gemini-2.5-flash", Usage(MILLION, 0, MILLION), 0.3 + 2.5),
    ],
)
def test_input_that_a_cache_served_or_kept_has_its_own_price_where_there_is_one(name, usage, usd):
    assert request_usd(name, usage) == pytest.approx(usd)


def test_a_long_request_costs_more_than_two_of_half_its_length():
    half, whole = (request_usd("google_genai:gemini-2.5-pro", Usage(tokens)) for tokens in (150_000, 300_000))
    assert half == pytest.approx(0.1875)
    assert whole == pytest.approx(0.75)


def test_counts_of_a_server_that_cannot_be_true_cost_no_less_than_nothing():
    assert request_usd("anthropic:claude-opus-5", Usage(10, 20, 0, 30)) == pytest.approx(10 * 0.5 / MILLION)


@pytest.mark.parametrize("name", ["openai:gpt-5-mini-2026-08-07", "openai:gpt-5-mini-20260807"])
def test_a_dated_snapshot_costs_as_its_model(name):
    assert request_usd(name, Usage(MILLION)) == pytest.approx(0.25)


def test_a_dated_snapshot_may_have_a_price_of_its_own():
    assert request_usd("openai:gpt-4o-2024-05-13", Usage(MILLION)) == pytest.approx(5)


@pytest.mark.parametrize(
    "name",
    [
        "gpt-5-mini",
        "other:gpt-5-mini",
        "openai:gpt-5-mini-mini",
        "openai:gpt-oss-120b",
        "openai:gpt-image-1",
        "openai:tts-1",
        "anthropic:claude-haiku-4-5-fast",
        "google_genai:gemini-3.5-flash-99",
        "google_genai:gemma-3",
        "groq:llama-3.3-70b-versatile",
        "ollama:qwen3",
    ],
)
def test_an_unknown_model_has_no_price(name):
    assert request_usd(name, Usage(1000)) is None


def test_the_users_price_goes_before_any_other():
    assert request_usd("openai:gpt-5-mini", Usage(MILLION, 400_000, MILLION), (1, 2)) == pytest.approx(3)


PRICED = """
import sys, threading
import virl.mind.llm
assert "genai_prices" not in sys.modules
from virl.mind.providers import Usage, request_usd
assert request_usd("openai:gpt-5-mini", Usage(1)) and "genai_prices" in sys.modules
assert threading.enumerate() == [threading.main_thread()]
"""


def test_prices_are_read_when_they_are_needed_and_never_updated_over_the_network():
    done = subprocess.run([sys.executable, "-c", PRICED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

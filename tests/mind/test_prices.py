import pytest

from virl.errors import BadInput
from virl.mind.prices import Price, Prices, PriceSource, Usage, load_prices
from virl.settings.model import parse_settings

PRICES = Prices(
    sources={"s": PriceSource(url="https://example.org", read="2026-11-21")},
    models={
        "openai:m": Price(input=1, cached_input=0.1, output=10, source="s"),
        "anthropic:m": Price(input=1, cached_input=0.1, cache_write=1.25, output=10, source="s"),
        "openai:plain": Price(input=1, output=10, source="s"),
    },
)


def test_cached_input_has_its_own_price_where_it_is_known():
    usage = Usage(input_tokens=1_000_000, cached_input_tokens=400_000, output_tokens=100_000)
    assert PRICES.usd("openai:m", usage) == pytest.approx(0.6 + 0.04 + 1.0)
    assert PRICES.usd("openai:plain", usage) == pytest.approx(1.0 + 1.0)


def test_input_that_is_written_into_the_cache_has_its_own_price_too():
    usage = Usage(input_tokens=1_000_000, cached_input_tokens=400_000, written_input_tokens=500_000)
    assert PRICES.usd("anthropic:m", usage) == pytest.approx(0.1 + 0.04 + 0.625)
    assert PRICES.usd("openai:plain", usage) == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["openai:m-2026-08-07", "openai:m-20260807"])
def test_a_dated_snapshot_costs_as_its_model(name):
    assert PRICES.usd(name, Usage(1000, 0, 0)) == pytest.approx(0.001)


@pytest.mark.parametrize("name", ["openai:m-mini", "other:m", "m"])
def test_an_unknown_model_has_no_price(name):
    assert PRICES.usd(name, Usage(1000, 0, 0)) is None


def test_a_price_without_its_source_is_refused():
    text = "sources: {}\nmodels:\n  a:b: {input: 1, output: 2, source: nowhere}\n"
    with pytest.raises(BadInput, match="no source named nowhere"):
        parse_settings(text, Prices, source="prices.yaml")


def test_the_shipped_prices_are_sane():
    prices = load_prices()
    assert prices.usd("openai:gpt-5-mini", Usage(1_000_000, 0, 1_000_000)) == pytest.approx(2.25)
    for price in prices.models.values():
        assert (price.cached_input or 0) <= price.input <= price.output

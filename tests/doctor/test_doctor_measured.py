"""What runs and episodes were billed: the file, its prices, and how it is made."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks.perf.prices import BENCHMARKS, events_of
from virl.agent.character_file import agent_names
from virl.cli.main import app
from virl.doctor.measured import DENSITIES, measured_costs, price_of_run, prices
from virl.errors import BadInput
from virl.platform.providers.google.settings import load_google_settings

LIST = load_google_settings()


def test_every_measured_event_has_a_price_today() -> None:
    costs = measured_costs()
    assert costs.agents.keys() == set(agent_names())
    assert costs.benchmarks.keys() == set(BENCHMARKS)
    for work in (*costs.agents.values(), *costs.benchmarks.values()):
        assert work.keys() == set(DENSITIES)
    for one in prices(LIST, costs):
        for town, usd in one.usd.items():
            each = sum(
                count * (LIST.skus[sku].usd_per_1000 or 0) / 1000 for sku, count in one.events[town].items()
            )
            assert usd == pytest.approx(each, abs=1e-6)


def test_a_price_that_changes_changes_what_is_told() -> None:
    dearer = {
        name: sku.model_copy(update={"usd_per_1000": 2 * (sku.usd_per_1000 or 0)})
        for name, sku in LIST.skus.items()
    }
    before = price_of_run(LIST, measured_costs(), "diego")
    after = price_of_run(LIST.model_copy(update={"skus": dearer}), measured_costs(), "diego")
    assert after == pytest.approx({town: 2 * usd for town, usd in before.items()})
    assert before["dense"] > 0.5
    assert price_of_run(LIST, measured_costs(), "nobody") == {}


def test_a_book_is_read_as_events() -> None:
    book = [
        {"micro_usd": 40_000, "request": "places_nearby", "sent": 1},
        {"micro_usd": 40_000, "request": "places_nearby", "sent": 1},
        {"micro_usd": -40_000, "request": "places_nearby"},
        {"micro_usd": 30_000, "request": "routes_matrix", "sent": 1},
        {"micro_usd": 0, "request": "tiles_metadata", "sent": 1},
    ]
    lines = [json.dumps(entry) for entry in book]
    assert events_of(lines, LIST) == {"matrix-essentials": 6, "nearby-atmosphere": 1}
    with pytest.raises(BadInput, match="no SKU costs 1 "):
        events_of([json.dumps({"micro_usd": 1, "request": "places_nearby"})], LIST)


def test_a_dry_run_tells_what_such_a_run_was_billed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", "any-key-of-a-dry-run")
    line = ["run", "aria", "--city", "london", "--dry-run", "--out", str(tmp_path / "run")]
    told = CliRunner().invoke(app, line)
    assert told.exit_code == 0, told.output
    assert "a run of aria cost $0.2" in told.output
    found = json.loads(CliRunner().invoke(app, [*line, "--json"]).output)
    assert found["measured_usd"] == pytest.approx(price_of_run(LIST, measured_costs(), "aria"), abs=1e-4)

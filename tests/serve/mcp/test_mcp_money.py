"""A session in a city that costs money: what it may spend is kept, and said in one line."""

from pathlib import Path

import pytest
from mcp.client.client import Client
from served_mcp import call, text, with_client

from virl.money.ledger import paid_for
from virl.platform.providers.cities import open_city
from virl.serve.google import ServeOptions
from virl.serve.google.server import serve_city

CITY = """\
title: Virlton over HTTP
about: Virlton in Google's formats
provider: google
city: Virlton
district: Old Town
country: Virland
language: en
time_zone: Europe/Helsinki
polygon: [[41.2380, -38.7650], [41.2380, -38.7450], [41.2560, -38.7450], [41.2560, -38.7650]]
center: [{lat}, {lng}]
google:
  base_url: {url}
"""
KEY = "AIza-marker-that-must-not-leak"


@pytest.mark.slow
def test_a_spent_budget_is_one_line_and_a_larger_one_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", KEY)
    town = open_city("virlton")
    with serve_city(town, ServeOptions()) as server:
        file = tmp_path / "served.yaml"
        file.write_text(CITY.format(lat=town.center.lat, lng=town.center.lng, url=server.url))
        runs = tmp_path / "runs"

        async def spend(client: Client) -> str:
            opened = await call(client, "open_city", at=f"{town.center.lat},{town.center.lng}")
            assert not opened.is_error, text(opened)
            told = opened.structured_content
            assert told["cost"]["budget_usd"] == pytest.approx(0.10)
            for direction in ("north", "east", "south", "west", *range(10, 350, 20)):
                looked = await call(client, "look", direction=direction)
                if looked.is_error:
                    break
                assert looked.structured_content["cost"]["usd"] > told["cost"]["usd"] - 1e-9
                told = looked.structured_content
            assert looked.is_error
            assert "0.10" in text(looked)
            assert "\n" not in text(looked)
            assert KEY not in text(looked)
            assert 0 < told["cost"]["usd"] <= 0.10
            assert not (await call(client, "take_note", text="No money is left.")).is_error
            return str(told["session"])

        session = with_client(runs, spend, {"city": str(file), "budget_usd": 0.10})
        assert paid_for(runs / session).usd <= 0.10

        async def go_on(client: Client) -> None:
            again = await call(client, "open_city", resume=session, budget_usd=0.20)
            assert not again.is_error, text(again)
            assert again.structured_content["cost"]["budget_usd"] == pytest.approx(0.20)
            assert not (await call(client, "look", direction=355)).is_error

        with_client(runs, go_on, {"city": str(file), "budget_usd": 5.0})
        paid = paid_for(runs / session).usd

        async def go_on_without_the_book(client: Client) -> None:
            again = await call(client, "open_city", resume=session, budget_usd=0.20)
            assert again.structured_content["cost"]["budget_usd"] == pytest.approx(paid + 0.03, abs=0.01)

        (runs / session / "spending.jsonl").unlink()
        with_client(runs, go_on_without_the_book, {"city": str(file), "budget_usd": 0.03})
        assert not [path for path in runs.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]

"""Vivek asks RentCast: what it costs stands in the run, and a resumed run does not ask again."""

from pathlib import Path

import pytest
from made_quarter import home, live, notes, place, quarter
from rentcast_server import KEY, RentCastServer, records

from virl.errors import ProviderError
from virl.platform.providers.rentcast.client import BASE_URL_VARIABLE, KEY_VARIABLE, load_rentcast_settings

CHANGES = {
    "client": {"name": "Peng", "background": "", "intention": "Peng wants a gym nearby."},
    "rent": {
        "price": [1000, 2000],
        "areas": [{"lat": 30.0, "lng": -97.0, "radius": 200}],
        "listings": "rentcast",
    },
}


def test_what_rentcast_costs_is_counted_and_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    city = quarter([place("Iron", 0, kind="gym")], [home("a", 0, 1500)])
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with RentCastServer([records(2)]) as server:
        monkeypatch.setenv(BASE_URL_VARIABLE, server.url)
        result = live("vivek", city, tmp_path / "run", CHANGES)
    assert len(server.requests) == 1
    assert result.status == "gave up"  # the homes are in Texas, this city is not
    assert result.answer["skipped"] == [
        f"{number} Main St, Austin, TX 78701: lies 5,321 km from the Quarter" for number in range(2)
    ]
    assert result.cost.usd == pytest.approx(load_rentcast_settings().usd_per_request)
    assert result.cost.requests.sent == {"rentcast_rentals": 1}
    assert len(notes(tmp_path / "run", "homes")) == 1
    written = [file for file in (tmp_path / "run").rglob("*") if file.is_file()]
    assert not any(KEY.encode() in file.read_bytes() for file in written)


def test_without_a_key_the_run_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path / "cache"))
    with pytest.raises(ProviderError, match="read listings from a file"):
        live("vivek", quarter([]), tmp_path / "run", CHANGES)

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_google import PICTURE, SILENCE, ScriptedGoogle, answer, client, good, refusal

from virl.errors import BadInput, BudgetExceeded, ProviderError
from virl.money.book import Price, Spending
from virl.money.ledger import Ledger
from virl.platform.providers.google.client import Call, price_of
from virl.platform.providers.google.settings import load_google_settings

SETTINGS = load_google_settings()
IMAGE = Call("static_image", query={"pano": "p1"})
STOPS = [{"placeId": str(number)} for number in range(11)]


def usd(call):
    return price_of(SETTINGS, call).usd


@pytest.mark.parametrize(
    ("call", "dollars_per_1000"),
    [
        (Call("static_metadata"), 0),
        (Call("static_image"), 7),
        (Call("tiles_session"), 0),
        (Call("tiles_metadata"), 0),
        (Call("tiles_pano_ids"), 2),
        (Call("tiles_tile"), 2),
        (Call("tiles_thumbnail"), 2),
        (Call("geocode"), 5),
        (Call("places_photo"), 7),
        (Call("places_nearby", fields="places.id"), 32),
        (Call("places_nearby", fields="places.id,places.displayName,places.location"), 32),
        (Call("places_nearby", fields="places.displayName.text, places.rating"), 35),
        (Call("places_nearby", fields="places.reviews"), 40),
        (Call("places_nearby", fields="*"), 40),
        (Call("places_text", fields="places.id,nextPageToken"), 0),
        (Call("places_text", fields="places.id,places.location"), 32),
        (Call("places_text", fields="places.displayName"), 32),
        (Call("places_text", fields="places.priceLevel"), 35),
        (Call("places_text", fields="places.somethingNew"), 40),
        (Call("places_details", fields="id"), 0),
        (Call("places_details", fields="id,location"), 5),
        (Call("places_details", fields="displayName"), 17),
        (Call("places_details", fields="displayName,userRatingCount"), 20),
        (Call("places_details", fields="displayName,reviews"), 25),
        (Call("routes_compute", body={"intermediates": STOPS[:10]}), 5),
        (Call("routes_compute", body={"intermediates": STOPS}), 10),
        (Call("routes_compute", body={"routingPreference": "TRAFFIC_AWARE_OPTIMAL"}), 10),
        (Call("routes_compute", body={"optimizeWaypointOrder": True}), 10),
        (Call("routes_matrix", body={"origins": STOPS[:2], "destinations": STOPS[:3]}), 6 * 5),
        (Call("legacy_matrix", query={"origins": "a|b", "destinations": "c|d|e"}), 6 * 5),
        (Call("legacy_directions", query={"waypoints": "a|b"}), 5),
        (Call("legacy_directions", query={"waypoints": "optimize:true|a|b"}), 10),
        (Call("legacy_nearby"), 40),
    ],
    ids=lambda value: f"{value.endpoint}-{value.fields}" if isinstance(value, Call) else str(value),
)
def test_a_request_costs_what_the_price_list_says(call, dollars_per_1000):
    assert usd(call) * 1000 == pytest.approx(dollars_per_1000)


def test_every_price_names_where_and_when_it_was_read():
    for sku in SETTINGS.skus.values():
        source = SETTINGS.sources[sku.source]
        assert source.url.startswith("https://developers.google.com/maps/")
        assert source.read.year >= 2026
        assert sku.usd_per_1000 * 1000 == sku.micro_usd


def test_what_has_no_price_is_refused_where_there_is_a_budget_and_said_where_there_is_none(caplog):
    unpriced = SETTINGS.skus["street-view-static"].model_copy(update={"usd_per_1000": None})
    changes = {"skus": SETTINGS.skus | {"street-view-static": unpriced}}
    with ScriptedGoogle([answer(200, PICTURE)]) as server:
        with (
            client(server, ledger=Ledger(100), changes=changes) as http,
            pytest.raises(BadInput, match=r"street-view-static.*usd_per_1000.*providers/google.yaml"),
        ):
            http.bytes(http.request(IMAGE))
        assert server.requests == []
        with client(server, changes=changes) as http:
            http.bytes(http.request(IMAGE))
    assert "sums leave it out" in caplog.text


def test_the_budget_stops_before_the_request_that_would_pass_it():
    with ScriptedGoogle([answer(200, PICTURE)]) as server, client(server, ledger=Ledger(0.014)) as http:
        http.bytes(http.request(IMAGE))
        http.bytes(http.request(IMAGE))
        with pytest.raises(
            BudgetExceeded, match=r"\$0.0140 of the budget of \$0.0140 .* static_image"
        ) as caught:
            http.bytes(http.request(IMAGE))
        assert len(server.requests) == 2
        assert http.bytes(http.request(Call("static_metadata"))) == PICTURE, "what is free may still be asked"
    assert "--budget-usd" in str(caught.value)
    assert (caught.value.spent_usd, caught.value.limit_usd, caught.value.price_usd) == (0.014, 0.014, 0.007)


def test_a_resumed_run_goes_on_from_what_it_had_spent():
    ledger = Ledger(0.014)
    ledger.hold(Price("image", 1, 8000), "image")
    with (
        ScriptedGoogle([answer(200, PICTURE)]) as server,
        client(server, ledger=ledger) as http,
        pytest.raises(BudgetExceeded),
    ):
        http.bytes(http.request(IMAGE))
    assert server.requests == []


def test_a_budget_of_nothing_lets_only_free_requests_through():
    with ScriptedGoogle([good({"status": "OK"})]) as server, client(server, ledger=Ledger(0)) as http:
        http.json(http.request(Call("static_metadata")))
        with pytest.raises(BudgetExceeded):
            http.json(http.request(Call("geocode")))
    assert len(server.requests) == 1


@pytest.mark.parametrize("limit", [-1, float("nan")])
def test_a_budget_that_is_none_is_refused(limit):
    with pytest.raises(BadInput):
        Ledger(limit)


def test_what_google_refuses_is_counted_and_not_billed():
    refused = [answer(500), refusal(429, "x", "RESOURCE_EXHAUSTED"), refusal(403, "x", "PERMISSION_DENIED")]
    with ScriptedGoogle(refused) as server, client(server, ledger=Ledger(0.007)) as http:
        with pytest.raises(ProviderError):
            http.bytes(http.request(IMAGE))
        total = http.ledger.total()
        assert (total.sent, total.cached, total.billed, total.usd) == ({"static_image": 3}, {}, {}, 0.0)
        assert total.received["static_image"] > 0
        assert http.ledger.spent_usd == 0


@pytest.mark.parametrize("trouble", [SILENCE, answer(200, b"garbage")])
def test_what_google_may_have_served_is_billed_at_each_try(trouble):
    with ScriptedGoogle([trouble, answer(200, PICTURE)]) as server, client(server, ledger=Ledger(1)) as http:
        http.bytes(http.request(IMAGE))
        assert http.ledger.total().billed == {"street-view-static": 2}
        assert http.ledger.total().usd == http.ledger.spent_usd == 0.014
    with (
        ScriptedGoogle([trouble]) as server,
        client(server, ledger=Ledger(0.010)) as http,
        pytest.raises(BudgetExceeded),
    ):
        http.bytes(http.request(IMAGE))
    assert len(server.requests) == 1


def test_threads_together_do_not_pass_the_budget():
    with (
        ScriptedGoogle([answer(200, PICTURE, delay=0.01)]) as server,
        client(server, ledger=Ledger(0.035)) as http,
        ThreadPoolExecutor(12) as pool,
    ):
        calls = [Call("static_image", query={"pano": str(number)}) for number in range(12)]
        asked = [pool.submit(http.bytes, http.request(call)) for call in calls]
        errors = [future.exception() for future in asked]
    assert len(server.requests) == 5
    assert sum(isinstance(error, BudgetExceeded) for error in errors) == 7


events = st.lists(
    st.tuples(
        st.sampled_from(["sent", "refused", "cached", "take"]),
        st.integers(1, 5),
        st.sampled_from([0, 2000, 7000]),
    ),
    max_size=40,
)


@pytest.mark.slow
@given(events)
def test_the_steps_of_a_ledger_add_up_to_its_total(history):
    ledger, steps = Ledger(), Spending()
    sent = billed = 0
    for event, number, micro in history:
        price = Price(f"sku{micro}", number, number * micro)
        if event == "cached":
            ledger.count_cached("e")
        elif event == "take":
            steps += ledger.take()
        else:
            hold = ledger.hold(price, "e")
            sent += 1
            if event == "refused":
                hold.release()
            else:
                billed += number * micro
    steps += ledger.take()
    total = ledger.total()
    assert dict(steps.sent) == dict(total.sent) == ({"e": sent} if sent else {})
    assert dict(steps.cached) == dict(total.cached)
    assert dict(steps.billed) == dict(total.billed)
    assert total.usd == pytest.approx(billed / 1e6)
    assert steps.usd == pytest.approx(total.usd)
    assert ledger.take() == Spending()

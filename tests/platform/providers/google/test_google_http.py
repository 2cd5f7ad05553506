import base64
import gzip
import hashlib
import hmac
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_google import (
    KEY,
    PICTURE,
    SECRET,
    SILENCE,
    Behaviour,
    FakeTime,
    ScriptedGoogle,
    answer,
    client,
    good,
    half,
    refusal,
    seconds,
)

from virl.errors import BadInput, ProviderError, UnknownName
from virl.platform.providers.google.client import Call, canonical, name_of, open_google_http
from virl.platform.providers.google.settings import Keys, load_google_settings
from virl.platform.providers.http.pace import MinuteLimit
from virl.platform.providers.http.replies import ReplyBody

GEOCODE = Call("geocode", query={"address": "1 Main St, Virlton"})
NEARBY = Call("places_nearby", body={"maxResultCount": 5}, fields="places.id")
PHOTO = Call("places_photo", path="places/x/photos/y/media")
IMAGE = Call("static_image", query={"pano": "p1", "size": "64x64"})
OK = good({"status": "OK", "results": [1]})


def test_a_call_reaches_its_path_with_method_body_mask_and_key():
    with ScriptedGoogle([good({"places": []})]) as server, client(server) as http:
        assert http.json(http.request(NEARBY)) == {"places": []}
        assert http.json(http.request(Call("places_details", path="a b/ü?x", fields="id"))) == {"places": []}
    first, second = server.requests
    assert (first.method, first.path, first.query) == ("POST", "/v1/places:searchNearby", {})
    assert first.body == b'{"maxResultCount":5}'
    assert first.headers["x-goog-fieldmask"] == "places.id"
    assert first.headers["x-goog-api-key"] == KEY
    assert (second.method, second.target) == ("GET", "/v1/places/a%20b/%C3%BC%3Fx")


def test_older_services_take_the_key_in_the_query_and_a_signature_of_the_rest():
    with ScriptedGoogle([answer(200, PICTURE)]) as server, client(server) as http:
        call = Call("static_image", query={"location": "1.5,-2.25", "size": "64x64", "odd": "ü|&= ~'"})
        assert http.bytes(http.request(call)) == PICTURE
    [request] = server.requests
    assert request.query["key"] == KEY
    assert request.query["odd"] == "ü|&= ~'"
    unsigned, _, signature = request.target.partition("&signature=")
    digest = hmac.new(base64.urlsafe_b64decode(SECRET), unsigned.encode(), hashlib.sha1).digest()
    assert request.query["signature"] == base64.urlsafe_b64encode(digest).decode()
    assert signature


def test_without_a_secret_nothing_is_signed():
    with ScriptedGoogle([answer(200, PICTURE)]) as server, client(server, keys=Keys(KEY)) as http:
        http.bytes(http.request(IMAGE))
    assert "signature" not in server.requests[0].query


@pytest.mark.parametrize(
    "trouble",
    [
        answer(500),
        answer(503, "<html>busy</html>"),
        refusal(429, "slow down", "RESOURCE_EXHAUSTED"),
        good({"status": "OVER_QUERY_LIMIT"}),
        good({"status": "UNKNOWN_ERROR"}),
        answer(200, b"\x00garbage{"),
        answer(200, "[1, 2]"),
        answer(200, ""),
        half(b'{"status": "OK"'),
        Behaviour(b"this is not HTTP\r\n\r\n"),
        answer(200, b"this is not gzip", {"content-encoding": "gzip"}),
        answer(200, "[" * 100_000),
        SILENCE,
    ],
    ids=lambda behaviour: behaviour.raw[:12].decode("latin-1") or "silence",
)
def test_trouble_that_passes_is_tried_through(trouble):
    with ScriptedGoogle([trouble, trouble, OK]) as server, client(server) as http:
        assert http.json(http.request(GEOCODE))["results"] == [1]
    assert len(server.requests) == 3


@pytest.mark.parametrize("trouble", [answer(200, b"\x00garbage"), half(PICTURE), good({"no": "picture"})])
def test_trouble_with_a_picture_is_tried_through(trouble):
    with ScriptedGoogle([trouble, answer(200, PICTURE)]) as server, client(server) as http:
        assert http.bytes(http.request(IMAGE)) == PICTURE
    assert len(server.requests) == 2


@pytest.mark.slow
def test_a_reply_that_does_not_come_is_waited_for_no_longer_than_the_timeout():
    changes = {"timeouts": {"read": 0.2}, "retries": {"further": 1}}
    slow = good({"status": "OK"}, delay=30)
    with (
        ScriptedGoogle([slow]) as server,
        client(server, changes=changes) as http,
        pytest.raises(ProviderError, match="no whole reply in time"),
    ):
        assert seconds(lambda: http.json(http.request(GEOCODE))) < 5
    assert len(server.requests) == 2


@pytest.mark.slow
def test_a_reply_that_drips_is_given_up_after_the_total_time():
    changes = {"timeouts": {"read": 5.0, "total": 0.4}, "retries": {"further": 0}}
    with (
        ScriptedGoogle([good("x" * 1000, drip=0.02)]) as server,
        client(server, changes=changes) as http,
        pytest.raises(ProviderError, match="no whole reply in time"),
    ):
        http.json(http.request(GEOCODE))


def test_a_reply_that_is_too_large_is_not_read_to_its_end():
    with (
        ScriptedGoogle([good("x" * 200_000)]) as server,
        client(server, changes={"max_reply_mb": 0.1}) as http,
        pytest.raises(ProviderError, match=r"larger than 0\.1 MB"),
    ):
        http.json(http.request(GEOCODE))
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("reply", "code", "words"),
    [
        (refusal(400, "bad field"), "INVALID_ARGUMENT", "bad field"),
        (refusal(401, "who?", "UNAUTHENTICATED"), "UNAUTHENTICATED", "enable Places API"),
        (refusal(403, "not enabled", "PERMISSION_DENIED"), "PERMISSION_DENIED", "enable Places API"),
        (refusal(404, "gone", "NOT_FOUND"), "NOT_FOUND", "something else"),
        (answer(404, "<html>"), "NOT_FOUND", "something else"),
        (answer(418, {"error": {"message": "tea"}}), "", "status 418: tea"),
        (good({"status": "REQUEST_DENIED", "error_message": "no"}), "REQUEST_DENIED", "enable Places API"),
        (good({"status": "INVALID_REQUEST"}), "INVALID_REQUEST", "request itself"),
        (good({"status": "OVER_DAILY_LIMIT"}), "OVER_DAILY_LIMIT", "billing"),
    ],
)
def test_a_refusal_is_not_tried_again_and_says_what_to_do(reply, code, words):
    with (
        ScriptedGoogle([reply]) as server,
        client(server) as http,
        pytest.raises(ProviderError, match=words) as caught,
    ):
        http.json(http.request(NEARBY))
    assert len(server.requests) == 1
    assert caught.value.code == code
    assert caught.value.service == "Places API (New)"
    assert "\n" not in str(caught.value)


def test_an_invalid_key_is_named_as_such():
    error = {"code": 400, "message": "API key not valid", "status": "INVALID_ARGUMENT"}
    details = {"details": [{"reason": "API_KEY_INVALID"}]}
    with (
        ScriptedGoogle([answer(400, {"error": error | details})]) as server,
        client(server) as http,
        pytest.raises(ProviderError, match="GOOGLE_MAPS_API_KEY"),
    ):
        http.json(http.request(NEARBY))


def test_that_there_is_nothing_is_a_good_reply():
    with ScriptedGoogle([good({"status": "ZERO_RESULTS"})]) as server, client(server) as http:
        assert http.json(http.request(GEOCODE)) == {"status": "ZERO_RESULTS"}
    assert len(server.requests) == 1


class Lasting(ReplyBody):
    duration: str


def test_a_matrix_is_an_array_and_its_error_is_one_too():
    call = Call("routes_matrix", body={"origins": [1], "destinations": [1]}, fields="duration")
    error = [{"error": {"code": 403, "message": "no", "status": "PERMISSION_DENIED"}}]
    with ScriptedGoogle([good([{"duration": "3s"}]), answer(403, error)]) as server, client(server) as http:
        assert [one.duration for one in http.array(http.request(call), Lasting)] == ["3s"]
        with pytest.raises(ProviderError, match="PERMISSION_DENIED"):
            http.array(http.request(call), Lasting)


def test_pauses_double_up_to_the_longest_and_retry_after_is_kept():
    time = FakeTime()
    script = [answer(500), answer(500), refusal(429, "wait", "RESOURCE_EXHAUSTED", retry_after="7"), OK]
    with ScriptedGoogle(script) as server, client(server, pace=time.pace) as http:
        http.json(http.request(GEOCODE))
    assert time.waits == [0.5, 1.0, 7.0]


def test_retry_after_may_be_a_date():
    time = FakeTime()
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    with (
        ScriptedGoogle([answer(503, headers={"retry-after": when}), OK]) as server,
        client(server, pace=time.pace) as http,
    ):
        http.json(http.request(GEOCODE))
    assert 17 <= time.waits[0] <= 20


def test_a_server_that_asks_for_an_hour_is_not_waited_for():
    time = FakeTime()
    with (
        ScriptedGoogle([refusal(429, "later", "RESOURCE_EXHAUSTED", retry_after="3600")]) as server,
        client(server, pace=time.pace) as http,
        pytest.raises(ProviderError, match="quota") as caught,
    ):
        http.json(http.request(GEOCODE))
    assert (len(server.requests), time.waits, caught.value.status) == (1, [], 429)


def test_tries_are_bounded():
    with (
        ScriptedGoogle([answer(500)]) as server,
        client(server, changes={"retries": {"further": 2}}) as http,
        pytest.raises(ProviderError, match="try again later") as caught,
    ):
        http.json(http.request(GEOCODE))
    assert (len(server.requests), caught.value.status) == (3, 500)


def test_a_server_that_is_not_there_is_named():
    with ScriptedGoogle([OK]) as server:
        url = server.url
    with client(url) as http, pytest.raises(ProviderError, match="cannot be reached at http://127"):
        http.json(http.request(GEOCODE))
    assert http.ledger.total().usd == 0


def test_a_redirect_is_followed_without_the_key():
    with ScriptedGoogle([answer(200, PICTURE)]) as other:
        redirect = answer(302, headers={"location": f"{other.url}/photo"})
        with ScriptedGoogle([redirect]) as server, client(server) as http:
            assert http.bytes(http.request(PHOTO)) == PICTURE
            assert http.bytes(http.request(IMAGE)) == PICTURE
    assert [request.target for request in other.requests] == ["/photo", "/photo"]
    assert KEY not in str(other.requests)


@pytest.mark.parametrize("file", [answer(500), answer(404, "gone"), answer(429), Behaviour(), None])
def test_a_photo_whose_file_fails_is_paid_for_each_time_it_was_answered(file):
    with ScriptedGoogle([file or answer(200)]) as other:
        redirect = answer(
            302, headers={"location": f"{other.url}/file" if file else "http://127.0.0.1:9/file"}
        )
        with ScriptedGoogle([redirect]) as server, client(server) as http:
            with pytest.raises(ProviderError) as caught:
                http.bytes(http.request(PHOTO))
            assert http.ledger.spent_usd == pytest.approx(0.007 * len(server.requests))
    assert file or "cannot be reached at http://127.0.0.1:9 " in str(caught.value)


def test_a_reply_whose_head_trickles_in_ends_at_the_total_of_its_time():
    trickle = Behaviour(b"HTTP/1.1 200 OK\r\nx-a: " + b"a" * 600, drip=0.05)
    timeouts = {"connect": 2, "read": 2, "total": 0.2}
    for of_file in (False, True):
        with ScriptedGoogle([trickle]) as slow:
            redirect = answer(302, headers={"location": f"{slow.url}/file"})
            with (
                ScriptedGoogle([redirect]) as server,
                client(
                    server if of_file else slow, changes={"timeouts": timeouts, "retries": {"further": 0}}
                ) as http,
                pytest.raises(ProviderError, match="no whole reply in time"),
            ):
                http.bytes(http.request(PHOTO))


@pytest.mark.parametrize("location", ["", "http://[", "ftp://x/y", "/again"])
def test_a_redirect_that_leads_nowhere_is_an_error(location):
    redirect = answer(302, headers={"location": location})
    with ScriptedGoogle([redirect]) as server, client(server) as http, pytest.raises(ProviderError):
        http.bytes(http.request(PHOTO))


@pytest.mark.parametrize("status", [{}, [], 3, None, True])
def test_a_status_that_is_no_word_is_passed_on(status):
    with ScriptedGoogle([good({"status": status})]) as server, client(server) as http:
        assert http.json(http.request(GEOCODE)) == {"status": status}


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "[" * 300 + "]" * 300])
def test_json_beyond_all_bounds_is_garbage(number):
    reply = good('{"results": ' + number + "}")
    with (
        ScriptedGoogle([reply]) as server,
        client(server) as http,
        pytest.raises(ProviderError, match="the reply is no JSON object"),
    ):
        http.json(http.request(GEOCODE))


def test_a_wrong_signature_is_told_in_googles_words_with_the_variable_to_check():
    words = "Unable to authenticate the request. Provided 'signature' is not valid."
    with (
        ScriptedGoogle([answer(403, words.encode())]) as server,
        client(server) as http,
        pytest.raises(ProviderError) as fault,
    ):
        http.json(http.request(GEOCODE))
    assert words in fault.value.reason
    assert "GOOGLE_MAPS_SIGNING_SECRET" in fault.value.remedy
    assert len(server.requests) == 1


@pytest.mark.parametrize("number", ["14970958066519606553", "1" * 400, "1e999"])
def test_a_number_beyond_64_bits_that_nobody_reads_does_not_matter(number):
    with ScriptedGoogle([good(f'{{"results": [], "fprint": {number}}}')]) as server, client(server) as http:
        assert http.json(http.request(GEOCODE))["results"] == []
    assert len(server.requests) == 1


@pytest.mark.slow
def test_what_is_compressed_counts_as_large_as_it_is_and_is_unpacked_once():
    bomb = gzip.compress(b" " * 40_000_000)
    once, twice = ({"content-encoding": name} for name in ("gzip", "gzip, gzip"))
    for reply, words in (
        (answer(200, bomb, once), "larger than"),
        (answer(200, gzip.compress(bomb), twice), "compressed more than once"),
    ):
        with ScriptedGoogle([reply]) as server, client(server) as http:
            with pytest.raises(ProviderError, match=words):
                http.json(http.request(GEOCODE))
            assert len(server.requests) == 1


def test_session_tokens_are_sent_and_not_logged(caplog):
    caplog.set_level(logging.DEBUG)
    with ScriptedGoogle([good({"panoIds": []})]) as server, client(server) as http:
        http.json(
            http.request(Call("tiles_pano_ids", query={"session": "the-token", "key": "mine"}, body={}))
        )
    assert server.requests[0].query == {"session": "the-token", "key": KEY}
    assert "the-token" not in caplog.text


@pytest.mark.slow
def test_no_more_requests_run_at_once_than_allowed():
    slow = good({"status": "OK"}, delay=0.05)
    calls = [Call("geocode", query={"address": str(number)}) for number in range(12)]
    with (
        ScriptedGoogle([slow]) as server,
        client(server, changes={"concurrency": 3}) as http,
        ThreadPoolExecutor(12) as pool,
    ):
        assert len(list(pool.map(http.json, map(http.request, calls)))) == 12
    assert 1 < server.most_at_once <= 3


@pytest.mark.slow
@given(st.integers(1, 5), st.lists(st.tuples(st.floats(0, 90), st.integers(1, 3)), max_size=30))
def test_no_minute_holds_more_events_than_its_limit(per_minute, arrivals):
    time = FakeTime()
    limit = MinuteLimit(per_minute, lambda: time.now, time.sleep)
    happened = []
    for gap, events in arrivals:
        time.now += gap
        limit.wait(events)
        happened.append((time.now, min(events, per_minute)))
    for start, _ in happened:
        assert sum(n for when, n in happened if start <= when < start + 59.999) <= per_minute


def test_the_limit_a_minute_comes_from_the_settings():
    time = FakeTime()
    endpoints = load_google_settings().model_dump()["endpoints"]
    endpoints["geocode"]["per_minute"] = 2
    with (
        ScriptedGoogle([OK]) as server,
        client(server, changes={"endpoints": endpoints}, pace=time.pace) as http,
    ):
        for number in range(5):
            http.json(http.request(Call("geocode", query={"address": str(number)})))
    assert time.waits == [60.0, 60.0]


def test_the_key_is_in_no_log_and_no_exception_even_if_the_server_says_it_aloud(caplog):
    def echo(request):
        return refusal(
            403, f"no access for {KEY} and {SECRET}: {request.target} AIzaAnotherKey123", "PERMISSION_DENIED"
        )

    caplog.set_level(logging.DEBUG)
    threads = threading.active_count()
    with ScriptedGoogle([echo, echo, SILENCE]) as server, client(server) as http:
        faults = []
        for call, ask in ((GEOCODE, http.json), (NEARBY, http.json), (IMAGE, http.bytes)):
            with pytest.raises(ProviderError) as caught:
                ask(http.request(call))
            faults.append(caught.value)
        said = [caplog.text, repr(http), repr(Keys(KEY, SECRET)), *map(str, faults), *map(repr, faults)]
        said += [repr(fault.__context__) for fault in faults]
    assert "AIza" not in "".join(map(str, faults))
    assert "no access for ***" in str(faults[0])
    assert "HTTP Request: GET" in caplog.text
    assert not [text for text in said if KEY in text or SECRET in text]
    assert threading.active_count() == threads


def test_without_a_key_there_is_nothing_to_ask_with(monkeypatch, tmp_path):
    monkeypatch.delenv("GOOGLE_MAPS_API_KEY", raising=False)
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path))
    with pytest.raises(ProviderError, match="GOOGLE_MAPS_API_KEY is not set"):
        open_google_http()


def test_the_environment_gives_key_and_host(monkeypatch, tmp_path):
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path))
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", f" {KEY}\n")
    with ScriptedGoogle([OK]) as server:
        monkeypatch.setenv("VIRL_GOOGLE_BASE_URL", f"{server.url}/")
        with open_google_http() as http:
            http.json(http.request(GEOCODE))
    assert server.requests[0].query["key"] == KEY


@pytest.mark.parametrize("url", ["127.0.0.1:80", "ftp://x", "http://x/path", "http://"])
def test_a_base_url_that_is_no_host_is_refused(monkeypatch, url):
    monkeypatch.setenv("VIRL_GOOGLE_BASE_URL", url)
    with pytest.raises(BadInput, match="VIRL_GOOGLE_BASE_URL"):
        load_google_settings()


def test_a_secret_that_is_none_is_refused_without_showing_it():
    with pytest.raises(BadInput, match="GOOGLE_MAPS_SIGNING_SECRET") as caught:
        Keys(KEY, "not base64")
    assert "not base64:" in str(caught.value)


@pytest.mark.parametrize("key", ["two words", "a\nb", "schlüssel"])
def test_a_key_that_cannot_be_one_is_refused_without_showing_it(key):
    with pytest.raises(BadInput, match="GOOGLE_MAPS_API_KEY") as caught:
        Keys(key)
    assert key not in str(caught.value)


def test_an_endpoint_that_does_not_exist_is_named_with_those_that_do():
    with client("http://127.0.0.1:9") as http, pytest.raises(UnknownName, match="static_image"):
        http.json(http.request(Call("streetview")))


texts = st.text(max_size=6)
queries = st.dictionaries(st.sampled_from(["pano", "size", "fov", "heading"]), texts, max_size=4)
bodies = st.none() | st.recursive(
    st.dictionaries(texts, st.integers() | texts, max_size=3),
    lambda inner: st.dictionaries(texts, inner, max_size=3),
)


@pytest.mark.slow
@given(queries, bodies, st.lists(st.sampled_from(["id", "places.name", "a.b"]), max_size=3), st.randoms())
def test_the_canonical_request_knows_no_order_and_no_key(query, body, fields, chance):
    call = Call("geocode", query=query, body=body, fields=",".join(fields))
    secrets = {"key": KEY, "session": KEY, "sessionToken": KEY, "signature": KEY}
    mixed = list((query | secrets).items())
    chance.shuffle(mixed)
    turned = None if body is None else dict(reversed(body.items()))
    same = Call("geocode", query=dict(mixed), body=turned, fields=", ".join(reversed(fields)))
    assert canonical(same) == canonical(call)
    assert KEY not in canonical(same)


@pytest.mark.slow
@given(queries, queries, bodies, bodies)
def test_canonical_requests_are_alike_only_for_the_same_call(query, other_query, body, other_body):
    one = Call("geocode", path="p", query=query, body=body)
    other = Call("geocode", path="p", query=other_query, body=other_body)
    assert (name_of(one).key() == name_of(other).key()) == (query == other_query and body == other_body)


def test_a_key_tells_hosts_endpoints_paths_and_masks_apart():
    base = Call("places_details", path="a", fields="id")
    keys = {
        name_of(base).key(),
        name_of(base).key("https://x"),
        name_of(base).key("https://y"),
        name_of(Call("geocode", path="a", fields="id")).key(),
        name_of(Call("places_details", path="b", fields="id")).key(),
        name_of(Call("places_details", path="a", fields="id,types")).key(),
    }
    assert len(keys) == 6

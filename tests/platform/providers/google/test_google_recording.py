import json
import logging

import pytest
from full_disk import full_disk
from scripted_google import KEY, KEYS, PICTURE, SECRET, ScriptedGoogle, answer, client, good, json_of, refusal

from virl.errors import BadInput, CannotWrite, ProviderError
from virl.platform.providers.google.client import Call
from virl.platform.providers.http.stored_replies import Recording, Replay, ReplyCache

GEOCODE = Call("geocode", query={"address": "1 Main St"})
IMAGE = Call("static_image", query={"pano": "p1"})
GONE = Call("places_details", path="gone", fields="id")
NOWHERE = "http://127.0.0.1:9"


def reply_to(request):
    if request.path.endswith("streetview"):
        return answer(200, PICTURE)
    if request.path.endswith("gone"):
        return refusal(404, "no such place", "NOT_FOUND")
    return good({"status": "OK", "you": request.query.get("address")})


@pytest.fixture
def recorded(tmp_path):
    folder = tmp_path / "recorded"
    with ScriptedGoogle([reply_to]) as server, client(server, record=Recording(folder)) as http:
        http.json(http.request(GEOCODE))
        http.bytes(http.request(IMAGE))
        with pytest.raises(ProviderError) as caught:
            http.json(http.request(GONE))
    return folder, str(caught.value)


def test_a_recorded_run_is_replayed_without_network_key_and_cost(recorded):
    folder, refused = recorded
    with client(NOWHERE, keys=None, replay=Replay(folder)) as http:
        assert http.json(http.request(GEOCODE)) == {"status": "OK", "you": "1 Main St"}
        assert http.bytes(http.request(IMAGE)) == PICTURE
        with pytest.raises(ProviderError) as caught:
            http.json(http.request(GONE))
        spent = http.ledger.total()
    assert (str(caught.value), caught.value.status, caught.value.code) == (refused, 404, "NOT_FOUND")
    assert (spent.sent, spent.usd) == ({}, 0)
    assert spent.cached == {"geocode": 1, "static_image": 1, "places_details": 1}


def test_a_miss_names_the_request(recorded):
    with (
        client(NOWHERE, replay=Replay(recorded[0])) as http,
        pytest.raises(ProviderError, match=r'"address":"2 Main St".*--record') as caught,
    ):
        http.json(http.request(Call("geocode", query={"address": "2 Main St", "key": KEY})))
    assert KEY not in str(caught.value)


def test_a_recording_can_be_read_by_people(recorded):
    [file] = (recorded[0] / "geocode").glob("*.json")
    assert json.loads(file.read_text()) == {
        "format": 1,
        "status": 200,
        "request": {
            "endpoint": "geocode",
            "path": "",
            "query": {"address": "1 Main St"},
            "body": None,
            "fields": [],
        },
    }
    assert json.loads(file.with_suffix(".body").read_bytes())["status"] == "OK"


def test_a_reply_from_the_cache_is_recorded_too(tmp_path):
    cache = ReplyCache(tmp_path / "cache")
    with ScriptedGoogle([reply_to]) as server:
        json_of(client(server, cache=cache, session="s"), GEOCODE)
        json_of(client(server, cache=cache, session="s", record=Recording(tmp_path / "r")), GEOCODE)
        assert len(server.requests) == 1
    cache.close()
    assert json_of(client(NOWHERE, replay=Replay(tmp_path / "r")), GEOCODE)["status"] == "OK"


def test_trouble_that_passed_is_not_recorded(tmp_path):
    with ScriptedGoogle([answer(500), reply_to]) as server:
        json_of(client(server, record=Recording(tmp_path)), GEOCODE)
    assert json_of(client(NOWHERE, replay=Replay(tmp_path)), GEOCODE)["status"] == "OK"


def test_the_first_reply_to_a_request_stays(tmp_path):
    with ScriptedGoogle([good({"status": "OK", "n": 1}), good({"status": "OK", "n": 2})]) as server:
        http = client(server, record=Recording(tmp_path))
        assert [http.json(http.request(GEOCODE))["n"], http.json(http.request(GEOCODE))["n"]] == [1, 2]
    assert json_of(client(NOWHERE, replay=Replay(tmp_path)), GEOCODE)["n"] == 1


@pytest.mark.parametrize("text", ["", "{", '{"format": 1}', '{"format": 9, "status": 200, "request": {}}'])
def test_a_broken_recording_is_named(recorded, text):
    [file] = (recorded[0] / "geocode").glob("*.json")
    file.write_text(text)
    with client(NOWHERE, replay=Replay(recorded[0])) as http, pytest.raises(BadInput, match=file.name):
        http.json(http.request(GEOCODE))


def test_folders_that_cannot_be_used_are_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="no such folder"):
        Replay(tmp_path / "nothing")
    with pytest.raises(BadInput, match="cannot record there"):
        Recording(tmp_path / "file")
    with pytest.raises(BadInput, match="--record or --replay"):
        client(NOWHERE, record=Recording(tmp_path / "a"), replay=Replay(tmp_path))


def test_a_full_disk_is_named_and_nothing_half_is_left(tmp_path):
    with ScriptedGoogle([reply_to]) as server, client(server, record=Recording(tmp_path)) as http:
        with (
            full_disk(10),
            pytest.raises(CannotWrite, match=r"cannot write .*\.body: File too large") as caught,
        ):
            http.json(http.request(GEOCODE))
        assert "\n" not in str(caught.value)
        assert not [path for path in tmp_path.rglob("*") if path.is_file()]
        http.json(http.request(GEOCODE))
    with client(NOWHERE, keys=None, replay=Replay(tmp_path)) as replayed:
        assert json_of(replayed, GEOCODE)["you"] == "1 Main St"


def test_no_key_is_left_in_anything_a_run_leaves_behind(tmp_path, caplog):
    def echo(request):
        return good({"status": "OK", "seen": request.target, "key": KEY, "secret": SECRET})

    caplog.set_level(logging.DEBUG)
    cache = ReplyCache(tmp_path / "cache")
    script = [echo, echo, answer(200, PICTURE + KEY.encode()), refusal(403, KEY, "PERMISSION_DENIED")]
    with ScriptedGoogle(script) as server:
        http = client(server, cache=cache, record=Recording(tmp_path / "recorded"))
        assert http.json(http.request(GEOCODE))["key"] == "***"
        http.json(http.request(Call("places_nearby", query={"key": KEY}, body={"x": 1}, fields="id")))
        with pytest.raises(ProviderError, match="the picture has the key in it"):
            http.bytes(http.request(IMAGE))
        with pytest.raises(ProviderError) as caught:
            http.json(http.request(Call("routes_compute", body={})))
        assert all(KEY in request.target + str(request.headers) for request in server.requests)
        for hidden in (KEY, SECRET):
            assert hidden.encode() not in b"".join(f.read_bytes() for f in tmp_path.rglob("*") if f.is_file())
        http.close()
    left = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    said = [caplog.text, str(caught.value), repr(caught.value), repr(http), repr(KEYS), repr(http.settings)]
    for hidden in (KEY, SECRET):
        assert hidden.encode() not in left
        assert not [text for text in said if hidden in text]
    assert b"1 Main St" in left

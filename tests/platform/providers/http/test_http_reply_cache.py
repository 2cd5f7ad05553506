import logging
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_google import PICTURE, ScriptedGoogle, answer, client, good, json_of, refusal

from virl.errors import BadInput, ProviderError
from virl.platform.providers.google.client import Call, open_google_http
from virl.platform.providers.http.stored_replies import FILE_NAME, ReplyCache
from virl.platform.providers.provider import Access

IMAGE = Call("static_image", query={"pano": "p1"})
PANOS = Call("tiles_pano_ids", query={"session": "one"}, body={"locations": [{"lat": 1, "lng": 2}]})
DAY = 86_400


def put(cache, key, body=b"x", lifetime=60.0, scope=""):
    cache.put(key, body, endpoint="e", lifetime=lifetime, scope=scope)


@pytest.fixture
def cache(tmp_path):
    cache = ReplyCache(tmp_path)
    yield cache
    cache.close()


def ask_twice(server, cache, call, sessions=("a", "a"), mode="ttl", ask="bytes"):
    for session in sessions:
        http = client(server, cache=cache, session=session, changes={"cache": {"mode": mode}})
        getattr(http, ask)(http.request(call))
    return len(server.requests)


@pytest.mark.parametrize(
    ("mode", "call", "ask", "same_session", "other_session"),
    [
        ("off", IMAGE, "bytes", 2, 2),
        ("session", IMAGE, "bytes", 1, 2),
        ("ttl", IMAGE, "bytes", 1, 2),
        ("off", PANOS, "json", 2, 2),
        ("session", PANOS, "json", 1, 2),
        ("ttl", PANOS, "json", 1, 1),
        ("ttl", Call("tiles_session", body={}), "json", 2, 2),
    ],
)
def test_the_mode_and_the_endpoint_say_who_finds_a_reply_again(
    cache, mode, call, ask, same_session, other_session
):
    reply = answer(200, PICTURE) if ask == "bytes" else good({"panoIds": ["p"]})
    with ScriptedGoogle([reply]) as server:
        assert ask_twice(server, cache, call, ("a", "a"), mode, ask) == same_session
    with ScriptedGoogle([reply]) as server:
        assert ask_twice(server, cache, call, ("a", "b"), mode, ask) == other_session


def test_a_hit_costs_nothing_and_is_counted(cache):
    with ScriptedGoogle([answer(200, PICTURE)]) as server, client(server, cache=cache) as http:
        http.bytes(http.request(IMAGE))
        http.ledger.take()
        assert http.bytes(http.request(IMAGE)) == PICTURE
        spent = http.ledger.take()
    assert (spent.sent, spent.cached, spent.usd) == ({}, {"static_image": 1}, 0)


def test_another_session_token_finds_the_same_reply_and_another_host_does_not(cache):
    other = Call("tiles_pano_ids", query={"session": "two"}, body={"locations": [{"lng": 2, "lat": 1}]})
    with ScriptedGoogle([good({"panoIds": ["p"]})]) as server:
        json_of(client(server, cache=cache), PANOS)
        json_of(client(server, cache=cache), other)
        assert len(server.requests) == 1
    with ScriptedGoogle([good({"panoIds": ["q"]})]) as server:
        assert json_of(client(server, cache=cache), PANOS) == {"panoIds": ["q"]}


def test_a_reply_expires(tmp_path):
    now = [0.0]
    cache = ReplyCache(tmp_path, clock=lambda: now[0])
    put(cache, "k", b"body", lifetime=30 * DAY)
    now[0] = 30 * DAY - 1
    assert cache.get("k") == b"body"
    now[0] = 30 * DAY + 1
    assert cache.get("k") is None
    cache.close()
    cache = ReplyCache(tmp_path, clock=lambda: now[0])
    cache.close()
    with sqlite3.connect(tmp_path / FILE_NAME) as file:
        assert file.execute("SELECT count(*) FROM replies").fetchone() == (0,), "deleted when next opened"
    file.close()


@pytest.mark.parametrize("reply", [refusal(404, "gone", "NOT_FOUND"), good({"status": "REQUEST_DENIED"})])
def test_only_good_replies_are_kept(cache, reply):
    with ScriptedGoogle([reply, good({"status": "OK"})]) as server, client(server, cache=cache) as http:
        with pytest.raises(ProviderError):
            http.json(http.request(Call("geocode")))
        assert http.json(http.request(Call("geocode"))) == {"status": "OK"}
        assert http.json(http.request(Call("geocode"))) == {"status": "OK"}
    assert len(server.requests) == 2


def test_two_threads_with_the_same_wish_pay_once(cache):
    with (
        ScriptedGoogle([answer(200, PICTURE, delay=0.05)]) as server,
        client(server, cache=cache) as http,
        ThreadPoolExecutor(6) as pool,
    ):
        assert list(pool.map(http.bytes, [http.request(IMAGE)] * 6)) == [PICTURE] * 6
    assert len(server.requests) == 1


KILLED = """
import os, signal
from virl.platform.providers.google.client import Call, open_google_http
from virl.platform.providers.provider import Access
http = open_google_http(access=Access(session="run"))
http.bytes(http.request(Call("static_image", query={"pano": "p1"})))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_a_killed_run_finds_what_it_has_paid_for(tmp_path, monkeypatch):
    with ScriptedGoogle([answer(200, PICTURE)]) as server:
        monkeypatch.setenv("VIRL_CACHE", str(tmp_path))
        monkeypatch.setenv("GOOGLE_MAPS_API_KEY", "a-key")
        monkeypatch.setenv("VIRL_GOOGLE_BASE_URL", server.url)
        killed = subprocess.run([sys.executable, "-c", KILLED], check=False, timeout=60)
        assert killed.returncode == -9
        with open_google_http(access=Access(session="run")) as http:
            assert http.bytes(http.request(IMAGE)) == PICTURE
    assert len(server.requests) == 1


WRITER = """
import sys
from pathlib import Path
from virl.platform.providers.http.stored_replies import ReplyCache
name, folder = sys.argv[1], Path(sys.argv[2])
cache = ReplyCache(folder)
for number in range(150):
    cache.put(f"{name}{number}", name.encode() * 2000, endpoint="e", lifetime=60)
    cache.get(f"a{number}"), cache.get(f"b{number}")
"""


@pytest.mark.slow
def test_two_processes_share_a_cache(tmp_path):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, name, str(tmp_path)], stderr=subprocess.PIPE)
        for name in "ab"
    ]
    said = [writer.communicate(timeout=60)[1] for writer in writers]
    assert [(writer.returncode, text) for writer, text in zip(writers, said, strict=True)] == [(0, b"")] * 2
    cache = ReplyCache(tmp_path)
    for number in range(150):
        assert cache.get(f"a{number}") == b"a" * 2000
        assert cache.get(f"b{number}") == b"b" * 2000
    cache.close()


@pytest.mark.slow
@pytest.mark.parametrize("begun", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_a_file_that_another_process_begins_is_waited_for(tmp_path, begun):
    other = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None, check_same_thread=False)
    other.execute(begun)
    other.execute("CREATE TABLE first (one TEXT)")
    end = threading.Timer(0.3, lambda: other.execute("COMMIT"))
    end.start()
    cache = ReplyCache(tmp_path)
    end.join()
    put(cache, "k", b"x")
    assert cache.get("k") == b"x"
    cache.close()
    other.close()


def damaged(path, damage):
    data = path.read_bytes()
    path.write_bytes(damage(data))


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"not a database" * 100,
        lambda data: b"\xff" * 100 + data[100:],
        lambda data: data[:4096] + b"\xab" * (len(data) - 4096),
        lambda data: data.replace(b"CREATE TABLE", b"CREATE \xa0ABLE"),
    ],
)
def test_a_corrupt_file_is_set_aside_with_a_message_and_the_run_goes_on(tmp_path, caplog, damage):
    cache = ReplyCache(tmp_path)
    put(cache, "k", b"x" * 50_000)
    cache.close()
    damaged(tmp_path / FILE_NAME, damage)
    cache = ReplyCache(tmp_path)
    assert cache.get("k") is None
    put(cache, "k", b"new")
    assert cache.get("k") == b"new"
    cache.close()
    assert len(list(tmp_path.glob("*.corrupt-*"))) == 1
    assert "renamed to" in caplog.text


def test_a_file_that_goes_bad_under_an_open_cache_does_not_stop_the_run(tmp_path, caplog):
    first, second = ReplyCache(tmp_path), ReplyCache(tmp_path)
    for number in range(40):
        put(first, str(number), b"x" * 5000)
    first.close()
    with sqlite3.connect(tmp_path / FILE_NAME) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()
    damaged(tmp_path / FILE_NAME, lambda data: data[:100] + b"\xab" * (len(data) - 100))
    assert second.get("3") is None
    put(second, "k", b"new")
    assert second.get("k") == b"new"
    second.close()
    assert "renamed to" in caplog.text


def test_a_process_whose_file_was_set_aside_by_another_goes_on_with_the_new_one(tmp_path, caplog):
    first = ReplyCache(tmp_path)
    put(first, "old")
    (tmp_path / FILE_NAME).rename(tmp_path / "aside")
    for suffix in ("-wal", "-shm"):
        (tmp_path / (FILE_NAME + suffix)).unlink()
    second = ReplyCache(tmp_path)
    put(first, "k", b"shared")
    assert second.get("k") == b"shared"
    first.close()
    second.close()


def test_a_file_that_another_process_holds_costs_a_warning_and_no_run(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr("virl.platform.providers.http.stored_replies._BUSY_S", 0.05)
    cache = ReplyCache(tmp_path)
    holder = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    put(cache, "k")
    holder.execute("ROLLBACK")
    holder.close()
    assert "continuing without this reply" in caplog.text
    assert cache.get("k") is None
    cache.close()


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="VIRL_CACHE"):
        ReplyCache(tmp_path / "file" / "cache")


@settings(max_examples=10)
@given(st.lists(st.integers(1, 30_000), min_size=1, max_size=30))
def test_the_oldest_replies_go_when_the_file_grows_too_large(tmp_path_factory, sizes):
    cache = ReplyCache(tmp_path_factory.mktemp("cache"), max_bytes=120_000)
    for number, size in enumerate(sizes):
        put(cache, str(number), b"x" * size)
        assert cache._used_bytes() <= 120_000
    kept = [cache.get(str(number)) is not None for number in range(len(sizes))]
    cache.close()
    assert kept == sorted(kept), "what is left is the newest"
    assert kept[-1]


def test_eviction_frees_a_tenth_and_no_more(tmp_path):
    cache = ReplyCache(tmp_path, max_bytes=400_000)
    for number in range(60):
        put(cache, str(number), b"x" * 20_000)
        kept = [cache.get(str(before)) is not None for before in range(number + 1)]
        assert kept[-1]
        assert kept == sorted(kept)
        assert number < 17 or sum(kept) * 20_000 > 300_000
    cache.close()


def test_many_threads_use_one_cache(cache, caplog):
    caplog.set_level(logging.WARNING)

    def work(name):
        for number in range(50):
            put(cache, f"{name}{number}", name.encode())
            assert cache.get(f"{name}{number}") == name.encode()

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(cache.get(f"{name}49") == name.encode() for name in "abcd")
    assert caplog.text == ""

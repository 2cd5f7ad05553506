import json

import pytest

from virl.errors import CannotWrite
from virl.mind.cache import ReplyCache, request_key
from virl.routines.explore.rules import PlaceType

KEY = request_key({"model": "m", "message": "héllo"})


@pytest.fixture
def cache(tmp_path):
    cache = ReplyCache(tmp_path / "replies")
    cache.put(KEY, model="m", prompt="p", reply={"place_type": "bar"})
    return cache


def entry_of(cache):
    [path] = cache.folder.rglob("*.json")
    return path


def test_a_reply_comes_back_typed(cache):
    assert cache.get(KEY, PlaceType, {}) == PlaceType(place_type="bar")
    assert cache.get(request_key({"model": "n"}), PlaceType, {}) is None


def test_a_reply_that_is_no_longer_offered_counts_as_absent(cache, caplog):
    assert cache.get(KEY, PlaceType, {"place_types": ["bank"]}) is None
    assert "asking again" in caplog.text


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"format": 1}', "\x00\xff"])
def test_a_corrupt_entry_counts_as_absent_and_is_written_anew(cache, caplog, damage):
    entry_of(cache).write_bytes(damage.encode("latin-1"))
    assert cache.get(KEY, PlaceType, {}) is None
    assert "not a usable reply" in caplog.text
    cache.put(KEY, model="m", prompt="p", reply={"place_type": "bank"})
    assert cache.get(KEY, PlaceType, {}) == PlaceType(place_type="bank")


def test_an_entry_of_another_format_counts_as_absent(cache):
    path = entry_of(cache)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 0}))
    assert cache.get(KEY, PlaceType, {}) is None


def test_a_write_that_fails_leaves_the_old_entry_whole(cache, monkeypatch):
    def no_space(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", no_space)
    with pytest.raises(CannotWrite, match="No space"):
        cache.put(KEY, model="m", prompt="p", reply={"place_type": "bank"})
    assert [path.name for path in cache.folder.rglob("*.*")] == [f"{KEY}.json"]
    assert cache.get(KEY, PlaceType, {}) == PlaceType(place_type="bar")


def test_the_key_tells_requests_apart_whatever_the_order_of_fields():
    assert request_key({"a": 1, "b": [2, "x"]}) == request_key({"b": [2, "x"], "a": 1})
    assert request_key({"a": 1, "b": [2, "x"]}) != request_key({"a": 1, "b": ["x", 2]})

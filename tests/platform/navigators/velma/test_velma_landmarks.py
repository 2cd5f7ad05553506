import json

import pytest
from completions import completion
from hypothesis import given
from hypothesis import strategies as st
from openai_server import ChatServer, text
from real_data import real_data

from virl.errors import BadInput, MindFailed
from virl.mind.open import open_mind
from virl.mind.rules import RuleMind
from virl.platform.navigators.velma.prompt import (
    MAX_LANDMARKS,
    MAX_NAME,
    filter_landmarks,
    known_landmarks,
    mind_landmarks,
    parse_landmarks,
    read_landmarks,
)

GO = "Pass a green kiosk, then turn left at Quarry Books."


@pytest.mark.parametrize(
    ("reply", "names"),
    [
        ("1. a green kiosk\n2. Quarry Books", ("a green kiosk", "Quarry Books")),
        ("Sure!\n\n 1) a green kiosk\n\n2) Quarry Books.\nAnything else?", ("a green kiosk", "Quarry Books")),
        ("**1.** kiosk", ("kiosk",)),
        ("1. kiosk\n3. shop\n2. bar", ("kiosk",)),
        ("1. kiosk\n1. shop", ("kiosk",)),
        ("2. kiosk", None),
        ("none", ()),
        ("None.", ()),
        ("1. none", ()),
        ("1. ", ()),
        ("", None),
        ("a green kiosk, Quarry Books", None),
        ('{"1": "kiosk"}', None),
    ],
)
def test_a_list_counts_from_one(reply, names):
    assert parse_landmarks(reply) == names


@given(st.text())
def test_any_reply_is_read_or_refused(reply):
    names = parse_landmarks(reply)
    assert names is None or all(name and "\n" not in name for name in names)


@pytest.mark.parametrize(
    "name",
    [
        *("the next intersection", "a 4-way Intersection", "small side street", "traffic light", "lights"),
        *(
            "the traffic lights",
            "double lights",
            "a building",
            "Large building",
            "a large building",
            "",
            " '' ",
        ),
    ],
)
def test_what_cannot_be_told_apart_is_left_out(name):
    assert filter_landmarks([name, "a kiosk"]) == ("a kiosk",)


@pytest.mark.parametrize("name", ["Light & Dark Cafe", "a mail building", "a lighthouse", "Building 7"])
def test_what_only_resembles_it_stays(name):
    assert filter_landmarks([name]) == (name,)


def test_repeats_length_number_and_odd_characters_are_bounded():
    assert filter_landmarks(["Kiosk", "kiosk", ' "Kiosk" ']) == ("Kiosk",)
    assert filter_landmarks(["a\nb\x00c \x1b[1m\ud83d"]) == ("a b c [1m",)
    assert filter_landmarks(["x" * 500]) == ("x" * MAX_NAME,)
    assert len(filter_landmarks(map(str, range(100)))) == MAX_LANDMARKS


def test_a_file_of_names_is_filtered(tmp_path):
    file = tmp_path / "landmarks.json"
    file.write_text(json.dumps({"7": ["Quarry Books", "a building", "Quarry Books"], "8": []}))
    assert read_landmarks(file) == {"7": ("Quarry Books",), "8": ()}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[]", "a JSON object with a list"),
        ('{"7": "x"}', "episode '7'"),
        ('{"7": [1]}', "episode '7'"),
        ("{", "line 1: not valid JSON"),
        (None, "landmarks.json"),
    ],
)
def test_a_broken_file_of_names_is_named(tmp_path, content, words):
    file = tmp_path / "landmarks.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(BadInput, match=words):
        read_landmarks(file)


def test_the_published_names_can_be_read():
    names = read_landmarks(real_data("touchdown") / "map2seq_seen" / "landmarks_dev.json")
    assert len(names) == 594
    assert 3.0 < sum(map(len, names.values())) / len(names) < 3.2


def test_known_landmarks_go_by_the_text_of_the_instruction():
    extract = known_landmarks({f" {GO}\n": ("a green kiosk",)})
    assert extract(GO) == ("a green kiosk",)
    assert extract("Go.") == ()


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "say"), [("openai:m", text), ("openai-completion:m", completion)])
def test_a_model_lists_them_and_is_asked_again_where_it_does_not(spec, say, tmp_path):
    with ChatServer([say("Which ones?"), say("1. a green kiosk\n2. Quarry Books\n")]) as server:
        for _ in range(2):
            mind = open_mind(spec, cache_dir=tmp_path, base_url=server.url)
            assert mind_landmarks(mind, "text")(GO) == ("a green kiosk", "Quarry Books")
        assert len(server.requests) == 2
        sent = [json.dumps(request.body) for request in server.requests]
    assert all(GO in body for body in sent)
    assert ["held no list: 1" in body for body in sent] == [False, True]


def test_a_model_that_lists_nothing_is_given_up_in_one_line():
    with ChatServer([text("\x1b[31mHm\n?")]) as server:
        mind = open_mind("openai:m", cache_dir=None, base_url=server.url)
        with pytest.raises(MindFailed, match=r"did not name landmarks in 3 replies") as caught:
            mind_landmarks(mind, "text")(GO)
        assert len(server.requests) == 3
        assert mind_landmarks(mind, "text")(" \n") == ()
        assert len(server.requests) == 3
    assert str(caught.value).isprintable()


def test_the_rules_list_names_and_things():
    extract = mind_landmarks(RuleMind())
    assert extract("Turn left past Quarry Books and the old brick church. Stop by a red mailbox.") == (
        "Quarry Books",
        "the old brick church",
        "a red mailbox",
    )
    assert extract("Turn left and stop.") == ()

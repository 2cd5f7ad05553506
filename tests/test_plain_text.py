"""Text from the world without what steers a terminal, hides, or turns the reading order around."""

import json

import pytest
from hostile_texts import TEXTS, hidden_in, is_hidden

from virl.mind.prompt import FENCE_CLOSE, FENCE_OPEN, fence
from virl.plain_text import plain_json, plain_line, plain_lines, plain_tree

WRITTEN = {
    "Arabic": "\u0645\u0637\u0639\u0645 \u0627\u0644\u0634\u0627\u0645",
    "Hebrew": "מסעדת שלום",
    "Persian with a joiner": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "Hindi with joiners": "क्\u200dष क्\u200cष",
    "a family": "👩\u200d👩\u200d👧",
    "a heart with its selector": "❤\ufe0f",
    "a flag": "🇯🇵",
    "a combining accent": "Cafe\u0301",
    "Chinese, Japanese, Korean": "北京烤鸭 すし 한식",
    "an old Arabic sign": "\u06dd\u0661",
    "two lines with a tab": "a\n\tb",
    "a wide space": "a\u3000b\u00a0c",
}


def test_there_are_fifty_texts_or_more() -> None:
    assert len(set(TEXTS)) >= 50


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
def test_what_people_write_is_kept(text: str) -> None:
    assert plain_lines(text) == text


@pytest.mark.slow
def test_no_hidden_character_of_unicode_is_left() -> None:
    left = [
        hex(code)
        for code in range(0x110000)
        if is_hidden(chr(code)) and plain_lines(f"x{chr(code)}").rstrip("\n") != "x"
    ]
    assert left == []


@pytest.mark.slow
def test_every_other_character_is_kept() -> None:
    letters = [chr(code) for code in range(0x110000) if not is_hidden(chr(code))]
    many = [letters[first : first + 500] for first in range(0, len(letters), 500)]
    changed = [letter for some in many if plain_lines("".join(some)) != "".join(some) for letter in some]
    assert [ascii(letter) for letter in changed if plain_lines(letter) != letter] == []


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_hostile_texts_are_plain_afterwards(text: str) -> None:
    assert hidden_in(plain_lines(text)) == []
    assert plain_lines(plain_lines(text)) == plain_lines(text)
    assert hidden_in(plain_line(text)) == []
    assert not set(plain_line(text)) & set("\t\n")


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a\x1b]52;c;aGk=\x07b", "ab"),
        ("a\x1b]0;title\x1b\\b", "ab"),
        ("a\x1b[2Jb\x9b31mc", "abc"),
        ("a\x9d0;x\x9cb\x90q\x9cc", "abc"),
        ("a\x1bcb\x1b(0c", "abc"),
        ("a\x1b]never closed", "anever closed"),
        ("a\x9dnever closed\nb\x9c", "anever closed\nb"),
        ("a\r\nb\rc\u2028d\x85e", "a\nb\nc\nd\ne"),
        ("a\ud800b", "ab"),
    ],
)
def test_sequences_go_whole_and_take_nothing_else(text: str, plain: str) -> None:
    assert plain_lines(text) == plain


def test_a_line_stays_one() -> None:
    assert plain_line("a\r\nb\tc\u2029d") == "a b c d"


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_json_says_the_same_without_the_characters(text: str) -> None:
    data = {"name": text}
    written = plain_json(json.dumps(data, ensure_ascii=False))
    assert hidden_in(written) == []
    assert json.loads(written) == data


def test_a_tree_is_plain_in_names_and_values() -> None:
    assert plain_tree({"a\x9b": ["b\x00", ("c", 1, None)], "d": 0.5}) == {
        "a": ["b", ["c", 1, None]],
        "d": 0.5,
    }


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_a_fence_is_plain_and_cannot_be_closed(text: str) -> None:
    fenced = fence(text)
    assert hidden_in(fenced) == []
    assert fenced.count(FENCE_OPEN) == fenced.count(FENCE_CLOSE) == 1
